//! H1: no tool opens onetool's own files, through any path, link or later include.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use onetool::config::{self, Config};
use onetool::{CallContext, Gateway, OpenStore};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure};
use crate::{object, options};

const CANARY: &str = "canary-4711";
const PROTECTED: &str = "belongs to onetool itself";

/// A project whose only root is the project directory itself, as the documentation shows it.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(yaml: &str) -> Self {
        let project = Self { folder: TempDir::new().unwrap() };
        project.write(".onetool/onetool.yaml", &format!("# {CANARY}\n{yaml}"));
        project.write(".onetool/secrets.yaml", &format!("KEY: {CANARY}\n"));
        project.write(".onetool/token", CANARY);
        project.write(".onetool/packs/own.py", &format!("def f():\n    return '{CANARY}'\n"));
        project.write("README.md", "hello\n");
        project
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    fn write(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn config(&self) -> Config {
        let path = self.path(".onetool/onetool.yaml");
        config::load(&path, &|_| None).unwrap_or_else(|error| panic!("{}", error.report()))
    }

    fn gateway(&self) -> Gateway {
        let mut options = options();
        options.directory = self.folder.path().into();
        options.store = OpenStore::sqlite(self.path(".onetool/onetool.db"));
        Gateway::new(self.config(), options).unwrap()
    }

    /// Returns every file of the project with its contents.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
            let mut entries: Vec<PathBuf> =
                fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                match path.symlink_metadata().unwrap() {
                    it if it.is_dir() => walk(&path, found),
                    it if it.is_file() => found.push((path.clone(), fs::read(&path).unwrap())),
                    _ => found.push((path, Vec::new())),
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found
    }
}

const ROOTS: &str = "packs: {file: {roots: [..]}}\n";

async fn rejected(gateway: &Gateway, name: &str, args: Value) {
    let error = failure(gateway, name, args.clone()).await;
    assert!(error.contains(PROTECTED), "{name} {args}: {error}");
    assert!(!error.contains(CANARY), "{name} {args}: {error}");
}

/// Passes a path to every tool that accepts one: all reject it, and nothing changes.
async fn rejected_by_all(project: &Project, gateway: &Gateway, path: &str) {
    let before = project.files();
    for (name, args) in [
        ("file.read", json!({"path": path})),
        ("file.read", json!({"path": path, "unit": "bytes"})),
        ("file.info", json!({"path": path})),
        ("file.write", json!({"path": path, "content": "x"})),
        ("file.edit", json!({"path": path, "old": CANARY, "new": "x"})),
        ("file.delete", json!({"path": path})),
    ] {
        rejected(gateway, name, args).await;
    }
    assert_eq!(project.files(), before, "{path}");
}

#[tokio::test]
async fn h1_no_spelling_or_link_leads_to_the_state_directory() {
    let project = Project::new(ROOTS);
    symlink(".onetool", project.path("link")).unwrap();
    symlink(".onetool/secrets.yaml", project.path("secrets")).unwrap();
    fs::hard_link(project.path(".onetool/secrets.yaml"), project.path("hard.txt")).unwrap();
    fs::hard_link(project.path(".onetool/token"), project.path("README-too.md")).unwrap();
    let gateway = project.gateway();
    let absolute = project.path(".onetool/secrets.yaml").display().to_string();
    for path in [
        ".onetool/secrets.yaml",
        "./.onetool//packs/../secrets.yaml",
        ".onetool/onetool.yaml",
        ".onetool/token",
        ".onetool/packs/own.py",
        "link/secrets.yaml",
        "hard.txt",
        "README-too.md",
        &absolute,
    ] {
        rejected_by_all(&project, &gateway, path).await;
    }
    for path in [".onetool", "link", ".onetool/packs"] {
        for name in ["file.list", "file.tree"] {
            rejected(&gateway, name, json!({"path": path, "hidden": true})).await;
        }
        for name in ["file.search", "ripgrep.search"] {
            rejected(&gateway, name, json!({"path": path, "pattern": "a*", "hidden": true})).await;
        }
    }
    // A link in the project is listed, but cannot be followed.
    let error = failure(&gateway, "file.read", json!({"path": "secrets"})).await;
    assert!(error.contains(PROTECTED), "{error}");
}

#[tokio::test]
async fn h1_directory_walks_skip_the_state_directory() {
    let project = Project::new(ROOTS);
    fs::hard_link(project.path(".onetool/secrets.yaml"), project.path("hard.txt")).unwrap();
    project.write("sub/.onetool/secrets.yaml", CANARY);
    let gateway = project.gateway();
    let args = json!({"pattern": "canary|hello", "hidden": true});
    let found = call(&gateway, "ripgrep.search", args).await;
    assert_eq!((&found["count"], &found["matches"][0]["path"]), (&json!(1), &json!("README.md")), "{found}");
    let found = call(&gateway, "file.search", json!({"pattern": "*.yaml", "hidden": true})).await;
    assert_eq!(found["paths"], json!([]));
    let tree = super::text(&gateway, "file.tree", json!({"hidden": true})).await;
    assert!(tree.contains(".onetool/") && !tree.contains("secrets.yaml"), "{tree}");
}

#[tokio::test]
async fn h1_no_file_can_be_created_that_onetool_would_read_later() {
    let folder = TempDir::new().unwrap();
    let project = Project { folder };
    project.write("onetool.yaml", "packs: {files: ['plugins/*.py'], file: {roots: [.]}}\n");
    project.write("plugins/note.txt", "");
    let load = || config::load(&project.path("onetool.yaml"), &|_| None).unwrap();
    let mut options = options();
    options.directory = project.folder.path().into();
    let gateway = Gateway::new(load(), options).unwrap();
    let before = project.files();
    for path in [
        ".onetool/onetool.yaml",
        "sub/.onetool/onetool.yaml",
        ".OneTool/onetool.yaml",
        ".onetool",
        "secrets.yaml",
        "onetool.yaml",
        "plugins/evil.py",
    ] {
        rejected(&gateway, "file.write", json!({"path": path, "content": "x"})).await;
    }
    assert!(!project.path(".onetool").exists() && !project.path("sub/.onetool").exists());
    let unchanged: Vec<_> = project.files().into_iter().filter(|it| !it.0.ends_with("sub")).collect();
    assert_eq!(unchanged, before);
    // Other files can still be written.
    for path in ["notes.py", "plugins/notes.txt", "sub/onetool/x", "plugins/deeper/x.py"] {
        call(&gateway, "file.write", json!({"path": path, "content": "x"})).await;
    }
}

#[tokio::test]
async fn h1_no_directory_with_our_files_can_be_moved() {
    let folder = TempDir::new().unwrap();
    let project = Project { folder };
    project.write("a/b/.onetool/onetool.yaml", "packs: {file: {roots: [../../..]}}\n");
    project.write("a/b/.onetool/secrets.yaml", "");
    symlink("b", project.path("a/c")).unwrap();
    let load = || config::load(&project.path("a/c/.onetool/onetool.yaml"), &|_| None).unwrap();
    let gateway = Gateway::new(load(), options()).unwrap();
    for path in ["a", "a/b", "a/b/.onetool", "a/c"] {
        rejected(&gateway, "file.delete", json!({"path": path})).await;
    }
    assert!(project.path("a/c/.onetool/onetool.yaml").is_file());
}

#[tokio::test]
async fn h1_a_file_that_an_include_adds_later_is_protected_from_then_on() {
    let project = Project::new(ROOTS);
    project.write("shared/more.yaml", &format!("# {CANARY}\nserver: {{instructions: hi}}\n"));
    fs::hard_link(project.path("shared/more.yaml"), project.path("copy.yaml")).unwrap();
    let gateway = project.gateway();
    call(&gateway, "file.read", json!({"path": "shared/more.yaml"})).await;
    project.write(".onetool/onetool.yaml", &format!("include: [../shared/more.yaml]\n{ROOTS}"));
    gateway.reload(project.config()).unwrap();
    for path in ["shared/more.yaml", "copy.yaml"] {
        rejected_by_all(&project, &gateway, path).await;
    }
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "canary|instructions"})).await;
    assert_eq!(found["count"], 0, "{found}");
}

#[tokio::test]
async fn h1_the_db_pack_opens_none_of_our_files() {
    let project = Project::new(
        "storage: {url: 'sqlite:../state/own.db'}
packs: {db: {urls: {own: 'sqlite:../state/own.db', hard: 'sqlite:../hard.db', inside: 'sqlite:mine.db'}, writable: [hard]}}
",
    );
    fs::create_dir(project.path("state")).unwrap();
    let gateway = project.gateway();
    // Write something first, so that there is a database to open.
    call(&gateway, "ot.stats", json!({})).await;
    gateway.close().await;
    fs::hard_link(project.path("state/own.db"), project.path("hard.db")).unwrap();
    fs::copy(project.path("state/own.db"), project.path(".onetool/mine.db")).unwrap();
    for url in ["own", "hard", "inside"] {
        rejected(&gateway, "db.query", json!({"url": url, "sql": "select * from sqlite_schema"})).await;
        rejected(&gateway, "db.tables", json!({"url": url})).await;
    }
}

#[tokio::test]
async fn h1_a_report_overwrites_none_of_our_files() {
    let project = Project::new("version: 1\n");
    // Only an empty file or a report may be replaced by a report.
    project.write(".onetool/packs/empty.py", "");
    fs::hard_link(project.path(".onetool/packs/empty.py"), project.path("empty.html")).unwrap();
    let gateway = project.gateway();
    for output in [".onetool/report.html", "empty.html", ".onetool/packs/empty.py", ".onetool"] {
        let args = object(json!({"output": output}));
        let result = gateway.server().call("ot.stats", args, CallContext::detached()).await.unwrap();
        let text = result.content[0].as_text().unwrap();
        assert!(text.contains(PROTECTED), "{output}: {text}");
    }
    assert!(!project.path(".onetool/report.html").exists());
    assert_eq!(fs::read(project.path("empty.html")).unwrap(), b"");
}

#[tokio::test]
async fn h1_notes_are_appended_to_none_of_our_files() {
    let project = Project::new("notify: {topics: [{pattern: '*', file: ../notes.yaml}]}\n");
    fs::hard_link(project.path(".onetool/onetool.yaml"), project.path("notes.yaml")).unwrap();
    let gateway = project.gateway();
    rejected(&gateway, "ot.notify", json!({"topic": "a", "message": "x"})).await;
    assert!(!fs::read_to_string(project.path("notes.yaml")).unwrap().contains("message"));
}

#[tokio::test]
async fn h1_files_that_the_configuration_runs_can_be_read_but_not_changed() {
    let project = Project::new(
        "packs: {file: {roots: [..]}, db: {urls: {shop: 'sqlite:../shop.db'}}}
tools: [{name: demo.run, description: d, command: [../run.sh], cwd: ..}]
servers: {up: {command: node, args: [server.js], cwd: .., enabled: false}}
openapi: {pets: {spec: ../pets.yaml, enabled: false}}
",
    );
    for file in ["run.sh", "server.js", "pets.yaml", "shop.db"] {
        project.write(file, "original");
    }
    let gateway = project.gateway();
    for path in ["run.sh", "server.js", "pets.yaml", "shop.db"] {
        assert_eq!(call(&gateway, "file.read", json!({"path": path})).await["text"], "original");
        for (name, args) in [
            ("file.write", json!({"path": path, "content": "x"})),
            ("file.edit", json!({"path": path, "old": "original", "new": "x"})),
            ("file.delete", json!({"path": path})),
        ] {
            let error = failure(&gateway, name, args).await;
            assert!(error.contains("can be read but not changed"), "{name} {path}: {error}");
        }
        assert_eq!(fs::read_to_string(project.path(path)).unwrap(), "original");
    }
    let error = failure(&gateway, "file.write", json!({"path": "shop.db-journal", "content": "x"})).await;
    assert!(error.contains("can be read but not changed"), "{error}");
}

#[tokio::test]
async fn h1_no_tool_reads_process_information_of_the_kernel() {
    let project = Project::new("packs: {file: {roots: [/]}}\n");
    let gateway = project.gateway();
    for path in ["/proc/self/environ", "proc/self/environ", "/proc/self/cmdline", "/proc/1/environ"] {
        let error = failure(&gateway, "file.read", json!({"path": path})).await;
        assert!(error.contains("environment of processes"), "{path}: {error}");
    }
}

#[tokio::test]
async fn h1_a_root_in_the_state_directory_is_reported_at_startup() {
    let project = Project::new("packs: {file: {roots: [.]}}\n");
    let gateway = project.gateway();
    let broken = gateway.broken_packs();
    assert_eq!(broken.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["file", "ripgrep"]);
    assert!(broken[0].to_string().contains("onetool's own directory"), "{}", broken[0]);
    let unknown = gateway.server().call("file.read", object(json!({"path": "x"})), CallContext::detached());
    assert!(unknown.await.unwrap_err().to_string().contains("tool not found"));
}
