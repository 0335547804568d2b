//! Child processes: what they get, what they may write, and that nothing of them stays.

use std::process::Stdio;

use indexmap::IndexMap;
use onetool_proxy::{Transport, Upstream};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::kit::{
    FIXTURE, Log, call, connected, data, eventually, gone, guarded, is_alive, pid_in, scripted, snapshot,
    state, unguarded,
};

#[tokio::test]
async fn l1_a_child_gets_path_home_locale_and_its_own_env_and_nothing_else() {
    for mut surroundings in [guarded(), unguarded()] {
        let given = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/h"),
            ("LANG", "C"),
            ("LC_ALL", "C"),
            ("SECRET_TOKEN", "x"),
        ];
        surroundings.environment = given.map(|(name, value)| (name.into(), value.into())).into();
        let mut config = scripted(&[]);
        let Transport::Stdio { env, .. } = &mut config.transport else { unreachable!() };
        *env = IndexMap::from([("OWN".to_owned(), "1".to_owned()), ("LANG".to_owned(), "de".to_owned())]);
        let upstream = Upstream::start(config, surroundings);
        state(&upstream, onetool_proxy::State::is_connected).await;
        let output = call(&upstream, "env").await.unwrap();
        let variables = data(&output);
        let mut names: Vec<&str> = variables.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["HOME", "LANG", "LC_ALL", "OWN", "PATH"]);
        assert_eq!(variables["LANG"], "de");
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn l1_a_program_is_found_in_the_childs_own_path_and_directory() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(FIXTURE, folder.path().join("my-server")).unwrap();
    let mut config = scripted(&[]);
    for (name, with_directory) in [("my-server", false), ("./my-server", true)] {
        let Transport::Stdio { command, env, directory, .. } = &mut config.transport else { unreachable!() };
        *command = name.to_owned();
        *env = IndexMap::from([("PATH".to_owned(), folder.path().display().to_string())]);
        *directory = with_directory.then(|| folder.path().to_owned());
        connected(config.clone()).await.shut_down().await;
    }
}

#[tokio::test]
async fn prx_1_2_banners_on_stdout_and_a_flood_on_stderr_do_no_harm() {
    let log = Log::capture();
    let mut config = scripted(&["banner=50", "flood=20000", "say=my token is hunter2hunter2"]);
    let Transport::Stdio { env, .. } = &mut config.transport else { unreachable!() };
    env.insert("TOKEN".to_owned(), "hunter2hunter2".to_owned());
    let upstream = connected(config).await;
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
    let log = log.text();
    assert!(log.contains("my token is [redacted]") && !log.contains("hunter2"), "{}", &log[..2000]);
    assert!(log.contains("further lines left out"));
    assert!(log.len() < 300_000, "20 MB of noise became {} bytes of log", log.len());
}

#[tokio::test]
async fn prx_1_3_shutting_down_ends_the_child_and_what_it_started() {
    for (surroundings, word) in
        [(guarded(), ""), (guarded(), "linger"), (unguarded(), ""), (unguarded(), "linger")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (child, grandchild) = (folder.path().join("child"), folder.path().join("grandchild"));
        let script = [
            format!("pid={}", child.display()),
            format!("grandchild={}", grandchild.display()),
            word.to_owned(),
        ];
        let upstream = Upstream::start(scripted(&script.each_ref().map(String::as_str)), surroundings);
        state(&upstream, onetool_proxy::State::is_connected).await;
        let (child, grandchild) = (pid_in(&child).await, pid_in(&grandchild).await);
        assert!(is_alive(child) && is_alive(grandchild));
        upstream.shut_down().await;
        assert!(!is_alive(child), "the child has to be gone when shut_down returns");
        gone(grandchild).await;
    }
}

#[tokio::test]
async fn prx_1_3_dropping_the_handle_ends_everything_too() {
    let folder = tempfile::tempdir().unwrap();
    let grandchild = folder.path().join("grandchild");
    let upstream = connected(scripted(&[&format!("grandchild={}", grandchild.display()), "linger"])).await;
    let grandchild = pid_in(&grandchild).await;
    drop(upstream);
    gone(grandchild).await;
}

#[tokio::test]
async fn low_3_a_daemon_ends_with_its_server_however_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("daemon");
    let script = format!("daemon={}", file.display());
    let start = async |words: &[&str]| {
        let _ = std::fs::remove_file(&file);
        let upstream = connected(scripted(&[&[script.as_str()], words].concat())).await;
        let daemon = pid_in(&file).await;
        assert!(is_alive(daemon));
        (upstream, daemon)
    };
    // Told to stop, and told twice because it did not listen.
    for words in [&[][..], &["linger"]] {
        let (upstream, daemon) = start(words).await;
        upstream.shut_down().await;
        assert!(!is_alive(daemon), "it has to be gone when shut_down returns");
    }
    // Dropped.
    let (upstream, daemon) = start(&["linger"]).await;
    drop(upstream);
    gone(daemon).await;
    // Connected again.
    let (upstream, daemon) = start(&[]).await;
    upstream.reconnect();
    gone(daemon).await;
    upstream.shut_down().await;
    // Killed from outside.
    let child = folder.path().join("child");
    let (_upstream, daemon) = start(&[&format!("pid={}", child.display())]).await;
    let child = pid_in(&child).await;
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    gone(daemon).await;
}

#[tokio::test]
async fn low_3_killing_the_gateway_leaves_no_daemon_behind() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = folder.path().join("daemon");
    let mut gateway = tokio::process::Command::new(FIXTURE)
        .args(["host", "server", "linger"])
        .arg(format!("daemon={}", daemon.display()))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("connected"));
    let daemon = pid_in(&daemon).await;
    let status = std::fs::read_to_string(format!("/proc/{daemon}/oom_score_adj")).unwrap();
    assert_eq!(status.trim(), "500", "the kernel takes it before the gateway");
    gateway.kill().await.unwrap();
    gone(daemon).await;
}

#[tokio::test]
async fn low_3_processes_that_a_server_leaves_behind_are_reaped() {
    let folder = tempfile::tempdir().unwrap();
    let (child, daemon) = (folder.path().join("child"), folder.path().join("daemon"));
    let script = [format!("pid={}", child.display()), format!("daemon={}", daemon.display())];
    let upstream = connected(scripted(&script.each_ref().map(String::as_str))).await;
    let (child, daemon) = (pid_in(&child).await, pid_in(&daemon).await);
    kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    let is_there = || std::path::Path::new(&format!("/proc/{daemon}")).exists();
    eventually("the end of a zombie", || (!is_there()).then_some(())).await;
    assert!(is_alive(child), "the server itself goes on");
    upstream.shut_down().await;
}

#[tokio::test]
async fn r7_killing_the_gateway_leaves_no_child_and_no_grandchild() {
    let folder = tempfile::tempdir().unwrap();
    let (child, grandchild) = (folder.path().join("child"), folder.path().join("grandchild"));
    let mut gateway = tokio::process::Command::new(FIXTURE)
        .args(["host", "server", "linger"])
        .arg(format!("pid={}", child.display()))
        .arg(format!("grandchild={}", grandchild.display()))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("connected"));
    let (child, grandchild) = (pid_in(&child).await, pid_in(&grandchild).await);
    gateway.kill().await.unwrap();
    gone(child).await;
    gone(grandchild).await;
}

#[tokio::test]
async fn r7_killing_the_guard_ends_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child");
    let upstream = connected(scripted(&[&format!("pid={}", child.display()), "linger"])).await;
    let first = pid_in(&child).await;
    let status = std::fs::read_to_string(format!("/proc/{first}/status")).unwrap();
    let guard = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap();
    assert_ne!(guard, std::process::id().cast_signed(), "the child's parent is the guard");
    kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    gone(first).await;
    // And the loss is noticed.
    eventually("a new child", || {
        let now = std::fs::read_to_string(&child).ok()?.parse::<i32>().ok()?;
        (now != first).then_some(())
    })
    .await;
    snapshot(&upstream, |it| it.state.is_connected()).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn r4_many_reconnections_leave_no_process_and_no_descriptor() {
    let folder = tempfile::tempdir().unwrap();
    let grandchild = folder.path().join("grandchild");
    // In a process of its own, where nobody else opens anything.
    let output = tokio::process::Command::new(FIXTURE)
        .args(["churn", "server", &format!("grandchild={}", grandchild.display())])
        .output()
        .await
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["reconnections"], 200);
    assert_eq!(report["descriptors_before"], report["descriptors_after"], "{report}");
    assert_eq!(report["children_while_connected"], 1, "{report}");
    assert_eq!(report["children_after_shutdown"], 0, "{report}");
    gone(pid_in(&grandchild).await).await;
}
