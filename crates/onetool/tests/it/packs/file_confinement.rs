//! No path, link, special file or race reaches anything outside the roots.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use onetool::{CallContext, Gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure, text, with_root};
use crate::{gateway, object};

const SECRET: &str = "no tool may read this";

struct Outside {
    folder: TempDir,
    root: PathBuf,
    gateway: Gateway,
}

/// A root, and next to it a file that no call may reach.
fn outside() -> Outside {
    let folder = TempDir::new().unwrap();
    let gateway = with_root(folder.path());
    fs::write(folder.path().join("secret"), SECRET).unwrap();
    fs::create_dir(folder.path().join("root-too")).unwrap();
    fs::write(folder.path().join("root-too/secret"), SECRET).unwrap();
    Outside { root: folder.path().join("root"), folder, gateway }
}

#[tokio::test]
async fn paths_that_lead_outside_are_rejected() {
    let it = outside();
    fs::create_dir(it.root.join("a")).unwrap();
    let secret = it.folder.path().join("secret").display().to_string();
    let sibling = it.folder.path().join("root-too/secret").display().to_string();
    let back = format!("{}/../secret", it.root.display());
    for path in
        ["../secret", "a/../../secret", "./../secret", "/etc/passwd", &secret, &sibling, &back, "a\0b"]
    {
        for (tool, more) in [
            ("file.read", json!({})),
            ("file.list", json!({})),
            ("file.tree", json!({})),
            ("file.info", json!({})),
            ("file.write", json!({"content": "x"})),
            ("file.edit", json!({"old": "no tool", "new": "all"})),
            ("file.delete", json!({})),
            ("file.search", json!({"pattern": "*"})),
            ("ripgrep.search", json!({"pattern": "no tool"})),
        ] {
            let mut args = json!({"path": path});
            args.as_object_mut().unwrap().extend(object(more));
            let error = failure(&it.gateway, tool, args).await;
            assert!(error.contains("is outside the directories"), "{tool} {path}: {error}");
        }
    }
    assert_eq!(fs::read_to_string(it.folder.path().join("secret")).unwrap(), SECRET);
}

#[tokio::test]
async fn links_are_followed_only_inside_the_roots() {
    let it = outside();
    fs::create_dir(it.root.join("real")).unwrap();
    fs::write(it.root.join("real/a"), "inside").unwrap();
    symlink("real", it.root.join("inner")).unwrap();
    symlink("..", it.root.join("up")).unwrap();
    symlink(it.folder.path(), it.root.join("absolute")).unwrap();
    symlink("../secret", it.root.join("direct")).unwrap();
    symlink("/proc/self/root", it.root.join("magic")).unwrap();
    symlink("loop", it.root.join("loop")).unwrap();
    assert_eq!(text(&it.gateway, "file.read", json!({"path": "inner/a"})).await, "inside");
    for path in ["up/secret", "absolute/secret", "direct", "magic/etc/passwd"] {
        let error = failure(&it.gateway, "file.read", json!({"path": path})).await;
        assert!(error.contains("is outside the directories"), "{path}: {error}");
        let found = failure(&it.gateway, "ripgrep.search", json!({"pattern": "no tool", "path": path})).await;
        assert!(found.contains("is outside the directories"), "{path}: {found}");
    }
    let error = failure(&it.gateway, "file.read", json!({"path": "loop"})).await;
    assert!(error.contains("cannot open 'loop'"), "{error}");
    for (tool, more) in
        [("file.write", json!({"content": "x"})), ("file.edit", json!({"old": "n", "new": "m"}))]
    {
        let mut args = json!({"path": "direct"});
        args.as_object_mut().unwrap().extend(object(more.clone()));
        let error = failure(&it.gateway, tool, args).await;
        assert!(error.contains("'direct' is a link; use the path of its target"), "{error}");
        let mut args = json!({"path": "up/secret"});
        args.as_object_mut().unwrap().extend(object(more));
        assert!(failure(&it.gateway, tool, args).await.contains("is outside the directories"), "{tool}");
    }
    let found = call(&it.gateway, "ripgrep.search", json!({"pattern": "no tool|inside"})).await;
    assert_eq!(found["count"], 1, "{found}");
    assert_eq!(found["matches"][0]["path"], "real/a");
    let found = call(&it.gateway, "ripgrep.search", json!({"pattern": "inside", "path": "inner"})).await;
    assert_eq!(found["matches"][0]["path"], "real/a", "a link inside works like its target");
    assert_eq!(call(&it.gateway, "file.search", json!({"pattern": "secret"})).await["paths"], json!([]));
    assert_eq!(fs::read_to_string(it.folder.path().join("secret")).unwrap(), SECRET);
}

/// A path that keeps changing between a file inside and a link outside returns the file or an error, never the secret.
#[tokio::test(flavor = "multi_thread")]
async fn a_race_between_check_and_use_reveals_nothing() {
    let it = outside();
    fs::create_dir(it.root.join("honest")).unwrap();
    fs::write(it.root.join("honest/secret"), "harmless").unwrap();
    fs::create_dir(it.root.join("turn")).unwrap();
    fs::write(it.root.join("turn/secret"), "harmless").unwrap();
    symlink("..", it.root.join("evil")).unwrap();
    let (stop, root) = (Arc::new(AtomicBool::new(false)), it.root.clone());
    let turning = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(root.join("turn"), root.join("aside")).unwrap();
                fs::rename(root.join("evil"), root.join("turn")).unwrap();
                fs::rename(root.join("turn"), root.join("evil")).unwrap();
                fs::rename(root.join("aside"), root.join("turn")).unwrap();
            }
        }
    });
    let (mut read, mut rejected) = (0, 0);
    // Run until both sides of the race have occurred.
    let deadline = std::time::Instant::now() + Duration::from_mins(1);
    let mut round = 0;
    while round < 300 || read == 0 || rejected == 0 {
        assert!(
            std::time::Instant::now() < deadline,
            "only one side occurred: {read} reads, {rejected} errors"
        );
        round += 1;
        let args = object(json!({"path": "turn/secret"}));
        match it.gateway.server().call("file.read", args, CallContext::detached()).await {
            Ok(output) => {
                assert_eq!(output.content[0].as_text(), Some("harmless"));
                read += 1;
            }
            Err(_) => rejected += 1,
        }
        let args =
            object(json!({"path": "turn/written", "content": round.to_string(), "make_folders": false}));
        let _ = it.gateway.server().call("file.write", args, CallContext::detached()).await;
        if round % 20 == 0 {
            let args = object(json!({"pattern": "no tool"}));
            let found =
                it.gateway.server().call("ripgrep.search", args, CallContext::detached()).await.unwrap();
            assert_eq!(found.structured_content.unwrap()["count"], 0);
        }
    }
    stop.store(true, Ordering::Relaxed);
    turning.join().unwrap();
    assert!(!it.folder.path().join("written").exists(), "nothing was written outside");
}

#[tokio::test]
async fn special_files_are_rejected_without_blocking() {
    let it = outside();
    let pipe = it.root.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(it.root.join("socket")).unwrap();
    let failure_in_time = async |tool: &str, args: Value| {
        tokio::time::timeout(Duration::from_secs(30), failure(&it.gateway, tool, args))
            .await
            .expect("the call does not block")
    };
    for (name, kind) in [("pipe", "a pipe"), ("socket", "a socket")] {
        for (tool, args) in [
            ("file.read", json!({"path": name})),
            ("file.read", json!({"path": name, "unit": "bytes"})),
            ("file.write", json!({"path": name, "content": "x"})),
            ("file.edit", json!({"path": name, "old": "a", "new": "b"})),
        ] {
            let error = failure_in_time(tool, args).await;
            assert!(error.ends_with(&format!("'{name}' is {kind}, not a file")), "{tool}: {error}");
        }
    }
    let searched = call(&it.gateway, "ripgrep.search", json!({"pattern": "x"}));
    let found =
        tokio::time::timeout(Duration::from_secs(30), searched).await.expect("the call does not block");
    assert_eq!(found["count"], 0);
    let devices = gateway(it.folder.path(), "packs: {file: {roots: [/dev]}}\n");
    let error = failure(&devices, "file.read", json!({"path": "zero"})).await;
    assert!(error.ends_with("'zero' is a device, not a file"), "{error}");
}

#[tokio::test]
async fn a_second_root_is_reached_by_its_absolute_path() {
    let it = outside();
    let yaml = "packs: {file: {roots: [root, root-too]}}\n";
    let gateway = gateway(it.folder.path(), yaml);
    let path = it.folder.path().join("root-too/secret");
    assert_eq!(text(&gateway, "file.read", json!({"path": path})).await, SECRET);
    let error = failure(&gateway, "file.read", json!({"path": "secret"})).await;
    assert!(error.contains("'secret' does not exist"), "relative paths start at the first root: {error}");
    let back = format!("{}/../secret", it.folder.path().join("root-too").display());
    assert!(
        failure(&gateway, "file.read", json!({"path": back})).await.contains("is outside the directories")
    );
}
