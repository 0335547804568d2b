//! Child processes: their environment, their output, and that none of them is left behind.

use std::process::Stdio;

use indexmap::IndexMap;
use onetool_proxy::{Transport, Upstream};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::kit::{
    FIXTURE, Log, call, connected, data, eventually, guarded, is_alive, read_pid, scripted, unguarded,
    wait_for_snapshot, wait_for_state, wait_until_gone,
};

#[tokio::test]
async fn l1_a_child_gets_path_home_locale_and_its_own_env_and_nothing_else() {
    for mut context in [guarded(), unguarded()] {
        let variables = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/h"),
            ("LANG", "C"),
            ("LC_ALL", "C"),
            ("SECRET_TOKEN", "x"),
        ];
        context.environment = variables.into();
        let mut config = scripted(&[]);
        let Transport::Stdio { env, .. } = &mut config.transport else { unreachable!() };
        *env = IndexMap::from([("OWN".to_owned(), "1".to_owned()), ("LANG".to_owned(), "de".to_owned())]);
        let upstream = Upstream::start(config, context);
        wait_for_state(&upstream, onetool_proxy::State::is_connected).await;
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
    let programs = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(FIXTURE, programs.path().join("my-server")).unwrap();
    let mut config = scripted(&[]);
    for (name, with_directory) in [("my-server", false), ("./my-server", true)] {
        let Transport::Stdio { command, env, directory, .. } = &mut config.transport else { unreachable!() };
        *command = name.to_owned();
        *env = IndexMap::from([("PATH".to_owned(), programs.path().display().to_string())]);
        *directory = with_directory.then(|| programs.path().to_owned());
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
    assert!(log.contains("more lines skipped"));
    assert!(log.len() < 300_000, "20 MB of output became {} bytes of log", log.len());
}

#[tokio::test]
async fn prx_1_3_shutting_down_ends_the_child_and_what_it_started() {
    for (context, word) in
        [(guarded(), ""), (guarded(), "linger"), (unguarded(), ""), (unguarded(), "linger")]
    {
        let directory = tempfile::tempdir().unwrap();
        let (child, grandchild) = (directory.path().join("child"), directory.path().join("grandchild"));
        let script = [
            format!("pid={}", child.display()),
            format!("grandchild={}", grandchild.display()),
            word.to_owned(),
        ];
        let upstream = Upstream::start(scripted(&script.each_ref().map(String::as_str)), context);
        wait_for_state(&upstream, onetool_proxy::State::is_connected).await;
        let (child, grandchild) = (read_pid(&child).await, read_pid(&grandchild).await);
        assert!(is_alive(child) && is_alive(grandchild));
        upstream.shut_down().await;
        assert!(!is_alive(child), "the child has exited when shut_down returns");
        wait_until_gone(grandchild).await;
    }
}

#[tokio::test]
async fn prx_1_3_dropping_the_handle_ends_all_processes() {
    let directory = tempfile::tempdir().unwrap();
    let grandchild = directory.path().join("grandchild");
    let upstream = connected(scripted(&[&format!("grandchild={}", grandchild.display()), "linger"])).await;
    let grandchild = read_pid(&grandchild).await;
    drop(upstream);
    wait_until_gone(grandchild).await;
}

#[tokio::test]
async fn low_3_a_daemon_ends_with_its_server_however_that_ends() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("daemon");
    let script = format!("daemon={}", file.display());
    let start = async |words: &[&str]| {
        let _ = std::fs::remove_file(&file);
        let upstream = connected(scripted(&[&[script.as_str()], words].concat())).await;
        let daemon = read_pid(&file).await;
        assert!(is_alive(daemon));
        (upstream, daemon)
    };
    // It exits when its input is closed, or only after SIGTERM.
    for words in [&[][..], &["linger"]] {
        let (upstream, daemon) = start(words).await;
        upstream.shut_down().await;
        assert!(!is_alive(daemon), "it has exited when shut_down returns");
    }
    // Dropped.
    let (upstream, daemon) = start(&["linger"]).await;
    drop(upstream);
    wait_until_gone(daemon).await;
    // Reconnected.
    let (upstream, daemon) = start(&[]).await;
    upstream.reconnect();
    wait_until_gone(daemon).await;
    upstream.shut_down().await;
    // Killed from outside.
    let child = directory.path().join("child");
    let (_upstream, daemon) = start(&[&format!("pid={}", child.display())]).await;
    let child = read_pid(&child).await;
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    wait_until_gone(daemon).await;
}

#[tokio::test]
async fn low_3_killing_the_gateway_leaves_no_daemon_behind() {
    let directory = tempfile::tempdir().unwrap();
    let daemon = directory.path().join("daemon");
    let mut gateway = tokio::process::Command::new(FIXTURE)
        .args(["host", "server", "linger"])
        .arg(format!("daemon={}", daemon.display()))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("connected"));
    let daemon = read_pid(&daemon).await;
    let status = std::fs::read_to_string(format!("/proc/{daemon}/oom_score_adj")).unwrap();
    assert_eq!(status.trim(), "500", "the kernel kills it before the gateway");
    gateway.kill().await.unwrap();
    wait_until_gone(daemon).await;
}

#[tokio::test]
async fn low_3_processes_that_a_server_leaves_behind_are_reaped() {
    let directory = tempfile::tempdir().unwrap();
    let (child, daemon) = (directory.path().join("child"), directory.path().join("daemon"));
    let script = [format!("pid={}", child.display()), format!("daemon={}", daemon.display())];
    let upstream = connected(scripted(&script.each_ref().map(String::as_str))).await;
    let (child, daemon) = (read_pid(&child).await, read_pid(&daemon).await);
    kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    let exists = || std::path::Path::new(&format!("/proc/{daemon}")).exists();
    eventually("the end of a zombie", || (!exists()).then_some(())).await;
    assert!(is_alive(child), "the server itself keeps running");
    upstream.shut_down().await;
}

#[tokio::test]
async fn r7_killing_the_gateway_leaves_no_child_and_no_grandchild() {
    let directory = tempfile::tempdir().unwrap();
    let (child, grandchild) = (directory.path().join("child"), directory.path().join("grandchild"));
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
    let (child, grandchild) = (read_pid(&child).await, read_pid(&grandchild).await);
    gateway.kill().await.unwrap();
    wait_until_gone(child).await;
    wait_until_gone(grandchild).await;
}

#[tokio::test]
async fn r7_killing_the_guard_ends_the_child() {
    let directory = tempfile::tempdir().unwrap();
    let child = directory.path().join("child");
    let upstream = connected(scripted(&[&format!("pid={}", child.display()), "linger"])).await;
    let first = read_pid(&child).await;
    let status = std::fs::read_to_string(format!("/proc/{first}/status")).unwrap();
    let guard = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap();
    assert_ne!(guard, std::process::id().cast_signed(), "the child's parent is the guard");
    kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    wait_until_gone(first).await;
    // The lost connection is noticed.
    eventually("a new child", || {
        let now = std::fs::read_to_string(&child).ok()?.parse::<i32>().ok()?;
        (now != first).then_some(())
    })
    .await;
    wait_for_snapshot(&upstream, |snapshot| snapshot.state.is_connected()).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn r4_many_reconnections_leave_no_process_and_no_descriptor() {
    let directory = tempfile::tempdir().unwrap();
    let grandchild = directory.path().join("grandchild");
    // In a separate process, where nothing else opens descriptors.
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
    wait_until_gone(read_pid(&grandchild).await).await;
}
