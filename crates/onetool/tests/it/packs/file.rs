//! The pack `file` with real directories.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use onetool::Source;
use serde_json::json;
use tempfile::TempDir;

use super::{call, failure, output, text, with_root};
use crate::gateway;

#[tokio::test]
async fn the_pack_exists_only_with_roots() {
    let folder = TempDir::new().unwrap();
    for yaml in [
        "",
        "packs: {file: {}}\n",
        "packs: {file: {roots: []}}\n",
        "packs: {file: {roots: [.], enabled: false}}\n",
    ] {
        let gateway = gateway(folder.path(), yaml);
        assert!(gateway.server().catalog().resolve("file.read").is_err(), "{yaml}");
        assert!(gateway.server().catalog().resolve("ripgrep.search").is_err(), "{yaml}");
    }
    let gateway = with_root(folder.path());
    let catalog = gateway.server().catalog();
    let hints = |name: &str| {
        let entry = catalog.resolve(name).unwrap();
        assert_eq!(*entry.source(), Source::Bundled);
        let hints = entry.spec().annotations.unwrap();
        (hints.read_only_hint, hints.destructive_hint)
    };
    for name in ["file.read", "file.list", "file.tree", "file.search", "file.info", "ripgrep.search"] {
        assert_eq!(hints(name), (Some(true), None), "{name}");
    }
    for name in ["file.write", "file.edit", "file.delete"] {
        assert_eq!(hints(name), (Some(false), Some(true)), "{name}");
    }
}

#[tokio::test]
async fn read_only_omits_tools_that_change_files() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "packs: {file: {roots: [.], read_only: true}}\n");
    let catalog = gateway.server().catalog();
    assert!(catalog.resolve("file.read").is_ok());
    for name in ["file.write", "file.edit", "file.delete"] {
        assert!(catalog.resolve(name).is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_file_is_read_whole_or_by_lines() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    fs::write(folder.path().join("root/a.txt"), "one\ntwo\nthree\nfour").unwrap();
    assert_eq!(text(&gateway, "file.read", json!({"path": "a.txt"})).await, "one\ntwo\nthree\nfour");
    let whole = call(&gateway, "file.read", json!({"path": "./a.txt"})).await;
    assert_eq!(whole, json!({"path": "a.txt", "text": "one\ntwo\nthree\nfour", "lines": 4, "size": 18}));
    let part = output(&gateway, "file.read", json!({"path": "a.txt", "offset": 2, "limit": 2})).await;
    assert_eq!(part.content[0].as_text(), Some("two\nthree\n"));
    assert_eq!(part.content[1].as_text(), Some("(there is more; continue with offset=4)"));
    assert_eq!(part.structured_content.unwrap()["next_offset"], 4);
    let beyond = call(&gateway, "file.read", json!({"path": "a.txt", "offset": 9})).await;
    assert_eq!((beyond["text"].as_str(), &beyond["lines"]), (Some(""), &json!(0)));
    let absolute = folder.path().join("root/a.txt");
    assert_eq!(text(&gateway, "file.read", json!({"path": absolute, "limit": 1})).await, "one\n");
    let error = failure(&gateway, "file.read", json!({"path": "a.txt", "offset": 0})).await;
    assert_eq!(error, "tool 'file.read' failed: offset must be >= 1, got 0");
    let error = failure(&gateway, "file.read", json!({"path": "b.txt"})).await;
    assert_eq!(
        error,
        "tool 'file.read' failed: 'b.txt' does not exist; file.list shows the contents of a directory"
    );
}

#[tokio::test]
async fn a_long_file_is_read_in_parts_that_add_up() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let lines: Vec<String> = (0..40_000).map(|n| format!("line {n} {}\n", "x".repeat(n % 80))).collect();
    let whole = lines.concat();
    fs::write(folder.path().join("root/long.txt"), &whole).unwrap();
    let (mut read, mut offset) = (String::new(), json!(1));
    while !offset.is_null() {
        let args = json!({"path": "long.txt", "offset": offset, "limit": 1_000_000});
        let part = call(&gateway, "file.read", args).await;
        read.push_str(part["text"].as_str().unwrap());
        offset = part["next_offset"].clone();
    }
    assert!(read == whole, "the parts add up to the file");
}

#[tokio::test]
async fn a_file_that_is_not_text_is_read_as_bytes() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    fs::write(folder.path().join("root/a.bin"), [0, 159, 146, 150, 255]).unwrap();
    let error = failure(&gateway, "file.read", json!({"path": "a.bin"})).await;
    assert_eq!(error, "tool 'file.read' failed: 'a.bin' is not text; read it with unit='bytes'");
    let args = json!({"path": "a.bin", "unit": "bytes", "offset": 1, "limit": 3});
    let part = call(&gateway, "file.read", args).await;
    assert_eq!(part, json!({"path": "a.bin", "bytes": 3, "size": 5, "base64": "n5KW", "next_offset": 4}));
    fs::write(folder.path().join("root/one-line.json"), "7".repeat(2_000_000)).unwrap();
    let error = failure(&gateway, "file.read", json!({"path": "one-line.json"})).await;
    assert!(error.contains("line 1 of 'one-line.json' is longer than 1048576 bytes"), "{error}");
    let args = json!({"path": "one-line.json", "unit": "bytes", "offset": 1_999_998});
    assert_eq!(call(&gateway, "file.read", args).await["text"], "77");
}

#[tokio::test]
async fn a_sparse_file_of_ten_gigabytes_is_read_in_parts() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let file = fs::File::create(folder.path().join("root/sparse")).unwrap();
    file.set_len(10 << 30).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"the end", (10 << 30) - 7).unwrap();
    let args = json!({"path": "sparse", "unit": "bytes", "offset": (10u64 << 30) - 7});
    let part = call(&gateway, "file.read", args).await;
    assert_eq!((&part["text"], &part["size"]), (&json!("the end"), &json!(10u64 << 30)));
    let error = failure(&gateway, "file.read", json!({"path": "sparse"})).await;
    assert!(error.contains("'sparse' is not text"), "rejected before it is read completely: {error}");
    let error = failure(&gateway, "file.edit", json!({"path": "sparse", "old": "a", "new": "b"})).await;
    assert!(error.contains("only files up to 16777216 bytes can be edited"), "{error}");
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "the end"})).await;
    assert_eq!(found["count"], 0, "binary files are skipped after their first bytes");
}

#[tokio::test]
async fn a_write_is_atomic_and_keeps_the_permissions() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let path = folder.path().join("root/new/deep/a.sh");
    let args = json!({"path": "new/deep/a.sh", "content": "echo 1\n"});
    assert_eq!(
        call(&gateway, "file.write", args.clone()).await,
        json!({"path": "new/deep/a.sh", "bytes": 7, "was": "created"})
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::metadata(&path).unwrap();
    let open = fs::File::open(&path).unwrap();
    let args = json!({"path": "new/deep/a.sh", "content": "echo 2\n"});
    assert_eq!(call(&gateway, "file.write", args).await["was"], "replaced");
    let after = fs::metadata(&path).unwrap();
    assert_eq!(after.mode() & 0o777, 0o750);
    assert_ne!(before.ino(), after.ino(), "a new file replaced the old one");
    let old = std::io::read_to_string(open).unwrap();
    assert_eq!(old, "echo 1\n", "a reader of the old file still sees all of it");
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["a.sh"], "no temporary file is left");

    let args = json!({"path": "none/a", "content": "", "make_folders": false});
    let error = failure(&gateway, "file.write", args).await;
    assert!(error.contains("'none' does not exist"), "{error}");
    let error = failure(&gateway, "file.write", json!({"path": "new", "content": ""})).await;
    assert_eq!(error, "tool 'file.write' failed: 'new' is a directory, not a file");
    let error = failure(&gateway, "file.write", json!({"path": ".", "content": ""})).await;
    assert!(error.contains("is not a path inside a root"), "{error}");
}

#[tokio::test]
async fn an_edit_replaces_the_only_match() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let path = folder.path().join("root/a.py");
    fs::write(&path, "a = 1\nb = 1\naaa\n").unwrap();
    let edit = |old: &str, new: &str| json!({"path": "a.py", "old": old, "new": new});
    let done = call(&gateway, "file.edit", edit("b = 1", "b = 'two'")).await;
    assert_eq!(done, json!({"path": "a.py", "line": 2, "bytes": 20}));
    assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1\nb = 'two'\naaa\n");
    for (old, expected) in [
        ("", "'old' is empty"),
        ("c = 1", "'old' does not occur in 'a.py'"),
        (" = ", "'old' matches 2 times in 'a.py' (lines 1, 2)"),
        ("aa", "'old' matches 2 times in 'a.py' (lines 3)"),
    ] {
        let error = failure(&gateway, "file.edit", edit(old, "x")).await;
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1\nb = 'two'\naaa\n");
    let error = failure(&gateway, "file.edit", json!({"path": "b.py", "old": "a", "new": "b"})).await;
    assert!(error.contains("'b.py' does not exist"), "{error}");
}

#[tokio::test]
async fn deleted_files_are_in_the_trash() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let root = folder.path().join("root");
    for (content, trashed) in [("1", ".onetool-trash/a"), ("2", ".onetool-trash/a~2")] {
        fs::write(root.join("a"), content).unwrap();
        let result = call(&gateway, "file.delete", json!({"path": "a"})).await;
        assert_eq!(result, json!({"path": "a", "trash": trashed}));
        assert!(!root.join("a").exists());
        assert_eq!(fs::read_to_string(root.join(trashed)).unwrap(), content);
    }
    fs::create_dir_all(root.join("folder/inner")).unwrap();
    symlink("/etc/passwd", root.join("link")).unwrap();
    call(&gateway, "file.delete", json!({"path": "folder"})).await;
    call(&gateway, "file.delete", json!({"path": "link"})).await;
    assert!(root.join(".onetool-trash/folder/inner").is_dir());
    assert!(root.join(".onetool-trash/link").is_symlink(), "the link, not its target");
    for (path, expected) in [
        ("a", "'a' does not exist"),
        (".onetool-trash/a", "is already in the trash"),
        (".", "is not a path inside a root"),
    ] {
        let error = failure(&gateway, "file.delete", json!({"path": path})).await;
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn directories_are_listed_shown_as_a_tree_and_searched_by_name() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("src/deep")).unwrap();
    for name in ["b.md", "a.rs", "src/c.rs", "src/deep/d.rs", ".hidden"] {
        fs::write(root.join(name), "12345").unwrap();
    }
    symlink("src", root.join("link")).unwrap();
    let listed = call(&gateway, "file.list", json!({})).await;
    let names: Vec<_> = listed["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(names, [("a.rs", "file"), ("b.md", "file"), ("link", "link"), ("src", "folder")]);
    assert_eq!(listed["entries"][0]["size"], 5);
    let limited = call(&gateway, "file.list", json!({"hidden": true, "limit": 2})).await;
    assert_eq!((limited["entries"][0]["name"].as_str(), &limited["left_out"]), (Some(".hidden"), &json!(3)));
    insta::assert_snapshot!(text(&gateway, "file.tree", json!({"depth": 2})).await, @r"
    ./
      a.rs
      b.md
      link@
      src/
        c.rs
        deep/
    ");
    let cut = text(&gateway, "file.tree", json!({"path": "src", "limit": 1})).await;
    assert_eq!(cut, "src/\n  c.rs\n(1 more entries; list a subdirectory, or raise limit)\n");
    let found = async |args| call(&gateway, "file.search", args).await["paths"].clone();
    assert_eq!(found(json!({"pattern": "*.rs"})).await, json!(["a.rs", "src/c.rs", "src/deep/d.rs"]));
    assert_eq!(found(json!({"pattern": "src/*.rs"})).await, json!(["src/c.rs"]));
    assert_eq!(found(json!({"pattern": "*.rs", "path": "src/deep"})).await, json!(["src/deep/d.rs"]));
    let first = call(&gateway, "file.search", json!({"pattern": "**/*.rs", "limit": 1})).await;
    assert_eq!(first, json!({"paths": ["a.rs"], "truncated": true}));
    let error = failure(&gateway, "file.search", json!({"pattern": "a[", "path": ""})).await;
    assert!(error.contains("invalid pattern 'a[': "), "{error}");
    let error = failure(&gateway, "file.list", json!({"path": "a.rs"})).await;
    assert_eq!(error, "tool 'file.list' failed: 'a.rs' is a file, not a directory");

    let info = call(&gateway, "file.info", json!({"path": "a.rs"})).await;
    assert_eq!((&info["kind"], &info["size"]), (&json!("file"), &json!(5)));
    let info = call(&gateway, "file.info", json!({"path": "link"})).await;
    assert_eq!(
        (&info["kind"], &info["target"], &info["leads"]),
        (&json!("link"), &json!("src"), &json!("inside"))
    );
    assert_eq!(call(&gateway, "file.info", json!({"path": "."})).await["kind"], "folder");
}
