//! Includes, how files merge, paths, and the files themselves.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Files, test_env};
use crate::{FilePath, LoadedFile, matching_files, read};

#[test]
fn includes_merge_from_left_to_right_and_the_including_file_wins() {
    let files = Files::new(&[
        ("onetool.yaml", "include: [a.yaml, b.yaml]\nmap: {three: main}\nlist: [main]\ntext: main\nempty:"),
        ("a.yaml", "map: {one: a, two: a, three: a, deep: {x: [a]}}\nlist: [a]\ntext: a\nempty: a"),
        ("b.yaml", "map: {two: b, deep: {x: [b], y: b}}\nlist: [b]\nother: b"),
    ]);
    let document = files.read().unwrap();
    let value: Value = document.root().read().unwrap();
    assert_eq!(
        value,
        json!({
            "map": {"one": "a", "two": "b", "three": "main", "deep": {"x": ["b"], "y": "b"}},
            "list": ["a", "b", "main"],
            "text": "main",
            "empty": "a",
            "other": "b",
        })
    );
    let location = document.root().field("map").field("two").location().to_string();
    assert_eq!(location, format!("{}:1", files.path("b.yaml").display()));
}

#[test]
fn paths_are_relative_to_the_file_that_contains_them() {
    let files = Files::new(&[
        ("onetool.yaml", "include: [more/a.yaml]\nmain: ./x/../y\nabsolute: /srv"),
        ("more/a.yaml", "include: [deep/b.yaml, ../c.yaml]\nmore: x\nlist: [x]"),
        ("more/deep/b.yaml", "deep: ../x\nlist: [x]"),
        ("c.yaml", "top: x"),
    ]);
    let document = files.read().unwrap();
    let path = |key: &str| document.root().field(key).read_required::<FilePath>().unwrap().into_path();
    assert_eq!(path("main"), files.path("x/../y"));
    assert_eq!(path("absolute"), Path::new("/srv"));
    assert_eq!(path("more"), files.path("more/x"));
    assert_eq!(path("deep"), files.path("more/deep/../x"));
    assert_eq!(path("top"), files.path("more/../x"));
    let list: Vec<FilePath> = document.root().field("list").read().unwrap();
    assert_eq!(list, [files.path("more/deep/x"), files.path("more/x")].map(FilePath::from));
    assert_eq!(document.root().field("more").absolute_path("z"), files.path("more/z"));
}

#[test]
fn included_files_are_listed_once_with_their_hashes() {
    let files = Files::new(&[
        ("onetool.yaml", "include: [a.yaml, b.yaml]"),
        ("a.yaml", "include: [b.yaml]"),
        ("b.yaml", "x: 1"),
        ("secrets.yaml", "A: b"),
    ]);
    let document = files.read().unwrap();
    let expected = ["onetool.yaml", "a.yaml", "b.yaml", "secrets.yaml"].map(|name| {
        let path = files.path(name);
        LoadedFile::new(&path, &fs::read(&path).unwrap())
    });
    assert_eq!(document.files, expected);
    let digest = LoadedFile::new(Path::new("/a"), b"").digest.to_string();
    assert_eq!(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn an_include_cycle_is_an_error_at_the_line_that_closes_it() {
    let files =
        Files::new(&[("onetool.yaml", "include: [a.yaml]"), ("a.yaml", "x: 1\ninclude: [link.yaml]")]);
    symlink(files.path("onetool.yaml"), files.path("link.yaml")).unwrap();
    assert_eq!(files.error(), "error at a.yaml:2: include cycle: onetool.yaml -> a.yaml -> onetool.yaml");
}

#[test]
fn includes_can_be_nested_64_files_deep() {
    let chain = |length: usize| {
        let files = Files::new(&[("onetool.yaml", "include: [1.yaml]")]);
        for number in 1..length {
            let text =
                if number + 1 == length { "v: 1".into() } else { format!("include: [{}.yaml]", number + 1) };
            fs::write(files.path(&format!("{number}.yaml")), text).unwrap();
        }
        files
    };
    assert_eq!(chain(64).read().unwrap().root().field("v").text(), Some("1"));
    assert_eq!(chain(65).error(), "error at 63.yaml:1: includes are nested deeper than 64 files");
}

#[test]
fn unreadable_files_are_errors_at_the_line_that_names_them() {
    let error = |text: &str| Files::new(&[("onetool.yaml", text), ("directory/x", "")]).error();
    assert!(
        error("a: 1\ninclude: [gone.yaml]")
            .starts_with("error at onetool.yaml:2: cannot read gone.yaml: No such")
    );
    assert_eq!(
        error("include: [directory]"),
        "error at onetool.yaml:1: cannot read directory: it is a directory"
    );
    assert_eq!(
        error("include: [/dev/zero]"),
        "error at onetool.yaml:1: cannot read /dev/zero: it is not a regular file"
    );
    assert_eq!(
        error("include: a.yaml"),
        "error at onetool.yaml:1: 'include': must be a list of files, for example [servers.yaml]"
    );
    assert_eq!(
        error("include:\n  - {}"),
        "error at onetool.yaml:2: 'include': every entry must be the path of a file"
    );
}

#[test]
fn a_file_of_more_than_4_mib_is_refused() {
    let files = Files::new(&[("onetool.yaml", &format!("# {}", "x".repeat(4 * 1024 * 1024 - 2)))]);
    files.read().unwrap();
    fs::write(files.path("onetool.yaml"), format!("# {}", "x".repeat(4 * 1024 * 1024 - 1))).unwrap();
    assert_eq!(files.error(), "error: cannot read onetool.yaml: it is larger than 4 MiB");
}

#[test]
fn a_missing_file_is_an_error_without_a_line() {
    let error = read(Path::new("/not/there/onetool.yaml"), &test_env).unwrap_err();
    assert!(error.location().is_none());
    assert!(error.report().starts_with("error: cannot read /not/there/onetool.yaml: "), "{}", error.report());
}

#[test]
fn a_newer_version_is_refused_before_anything_else() {
    let files =
        Files::new(&[("onetool.yaml", "include: [a.yaml]"), ("a.yaml", "unknown: ${NO}\nversion: 2")]);
    assert_eq!(
        files.error(),
        "error at a.yaml:2: configuration version 2 requires a newer onetool (this one supports version 1)"
    );
}

#[test]
fn a_file_must_be_a_map() {
    for text in ["- a", "a", "[]", "1"] {
        let error = Files::new(&[("onetool.yaml", text)]).error();
        assert_eq!(error, "error at onetool.yaml:1: the file must be a map of settings", "{text}");
    }
    for text in ["", "~", "# only a comment", "---\n...", "{}"] {
        let document = Files::new(&[("onetool.yaml", text)]).read().unwrap();
        assert_eq!(document.root().keys().count(), 0, "{text}");
    }
}

#[test]
fn patterns_match_files_in_order_and_once() {
    let files = Files::new(&[("b.py", ""), ("a.py", ""), ("c.txt", ""), ("sub/d.py", "")]);
    let matching = |patterns: &[&str]| {
        let patterns: Vec<PathBuf> = patterns.iter().map(|it| files.path(it)).collect();
        let shown = |file: Result<PathBuf, _>| match file {
            Ok(path) => path.strip_prefix(files.0.path()).unwrap().display().to_string(),
            Err(_) => "error".to_owned(),
        };
        matching_files(&patterns).into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(matching(&["c.txt", "*.py", "a.py", "**/*.py"]), ["c.txt", "a.py", "b.py", "sub/d.py"]);
    assert_eq!(matching(&["no*"]), [""; 0]);
    assert_eq!(matching(&["gone.py", "sub", "a[.py"]), ["error", "error", "error"]);
}
