//! The pack `ripgrep` with real directories.

use std::fs;

use onetool::Gateway;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure, text, with_root};
use crate::gateway;

fn files(folder: &TempDir) -> Gateway {
    let gateway = with_root(folder.path());
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::create_dir_all(root.join("target")).unwrap();
    fs::write(root.join("src/main.rs"), "// start\nfn main() {\n    run();\n}\nfn run() {}\n").unwrap();
    fs::write(root.join("notes.md"), "Main things:\n- fn main\n").unwrap();
    fs::write(root.join("target/out.rs"), "fn main() {}\n").unwrap();
    fs::write(root.join(".gitignore"), "target/\nignored.rs\n").unwrap();
    fs::write(root.join("ignored.rs"), "fn main() {}\n").unwrap();
    fs::write(root.join(".secret.rs"), "fn main() {}\n").unwrap();
    fs::write(root.join("data.bin"), b"\0fn main").unwrap();
    gateway
}

fn places(found: &Value) -> Vec<String> {
    let place = |it: &Value| format!("{}:{}", it["path"].as_str().unwrap(), it["line"]);
    found["matches"].as_array().unwrap().iter().map(place).collect()
}

#[tokio::test]
async fn a_search_returns_paths_lines_and_text() {
    let folder = TempDir::new().unwrap();
    let gateway = files(&folder);
    let search = async |args| places(&call(&gateway, "ripgrep.search", args).await);
    assert_eq!(search(json!({"pattern": "fn main"})).await, ["notes.md:2", "src/main.rs:2"]);
    assert_eq!(search(json!({"pattern": r"fn \w+\(\)"})).await, ["src/main.rs:2", "src/main.rs:5"]);
    assert_eq!(search(json!({"pattern": "fn main", "glob": "*.rs"})).await, ["src/main.rs:2"]);
    assert_eq!(search(json!({"pattern": "fn main", "glob": "!*.rs"})).await, ["notes.md:2"]);
    assert_eq!(search(json!({"pattern": "fn main", "path": "src"})).await, ["src/main.rs:2"]);
    assert_eq!(search(json!({"pattern": "fn main", "path": "notes.md"})).await, ["notes.md:2"]);
    assert_eq!(
        search(json!({"pattern": "run()", "literal": true})).await,
        ["src/main.rs:3", "src/main.rs:5"]
    );
    assert_eq!(search(json!({"pattern": "^main", "ignore_case": true})).await, ["notes.md:1"]);
    let hidden = search(json!({"pattern": "fn main", "hidden": true, "glob": "*.rs"})).await;
    assert_eq!(hidden, [".secret.rs:1", "src/main.rs:2"], "files in .gitignore are still skipped");
    let nothing = text(&gateway, "ripgrep.search", json!({"pattern": "nowhere"})).await;
    assert_eq!(nothing, "no matches\n");
}

#[tokio::test]
async fn context_surrounds_the_match() {
    let folder = TempDir::new().unwrap();
    let gateway = files(&folder);
    let args = json!({"pattern": "main|run\\(\\) ", "path": "src", "context": 1});
    let found = call(&gateway, "ripgrep.search", args.clone()).await;
    assert_eq!(found["matches"][0]["before"], json!(["// start"]));
    assert_eq!(found["matches"][0]["after"], json!(["    run();"]));
    insta::assert_snapshot!(text(&gateway, "ripgrep.search", args).await, @r"
    src/main.rs-1-// start
    src/main.rs:2:fn main() {
    src/main.rs-3-    run();
    --
    src/main.rs-4-}
    src/main.rs:5:fn run() {}
    ");
}

#[tokio::test]
async fn a_search_stops_at_its_limit_and_reports_it() {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    for file in 0..50 {
        fs::write(folder.path().join(format!("root/{file}")), "needle\n".repeat(100)).unwrap();
    }
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "needle", "max": 7})).await;
    assert_eq!((&found["count"], &found["truncated"]), (&json!(7), &json!(true)));
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "needle", "max": 5000})).await;
    assert_eq!(
        (&found["count"], found.get("truncated")),
        (&json!(5000), None),
        "exactly the number of matches"
    );
    fs::write(folder.path().join("root/long"), "x".repeat(10_000)).unwrap();
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "xx"})).await;
    assert_eq!(found["matches"][0]["text"].as_str().unwrap().chars().count(), 501);
}

#[tokio::test]
async fn errors_name_the_problem() {
    let folder = TempDir::new().unwrap();
    let gateway = files(&folder);
    for (args, expected) in [
        (
            json!({"pattern": "a("}),
            "invalid regular expression; literal=True searches for the pattern as plain text: ",
        ),
        (json!({"pattern": "a", "glob": "["}), "invalid glob '[': "),
        (json!({"pattern": "a", "path": "none"}), "'none' does not exist"),
    ] {
        let error = failure(&gateway, "ripgrep.search", args).await;
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn the_pack_may_have_its_own_roots() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("only")).unwrap();
    fs::write(folder.path().join("only/a"), "needle\n").unwrap();
    let gateway = gateway(folder.path(), "packs: {ripgrep: {roots: [only]}}\n");
    assert!(gateway.server().catalog().resolve("file.read").is_err());
    let found = call(&gateway, "ripgrep.search", json!({"pattern": "needle"})).await;
    assert_eq!(places(&found), ["a:1"]);
}
