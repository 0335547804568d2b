//! Processes: which die, which are restarted, and which remain.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onetool_sandbox::{Limits, RunError, WorkerCommand};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{TestHost, limits, run, run_with, sandbox, sandbox_with, value};

/// Returns the children of a process.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|it| it.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// Returns the zygotes of this thread's sandboxes, because tests run concurrently in one process. The parent of each
/// zygote is the process that created its namespaces.
fn zygotes() -> Vec<u32> {
    let tid = rustix::thread::gettid().as_raw_nonzero();
    let list = fs::read_to_string(format!("/proc/self/task/{tid}/children")).unwrap();
    list.split_whitespace().flat_map(|it| children(it.parse().unwrap())).collect()
}

fn kill(process: u32) {
    let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}

async fn wait_until(event: &str, mut has_happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < Duration::from_secs(30), "{event} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_running(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z'))
}

/// Waits until the spare child is the only child of a zygote.
async fn spare_of(zygote: u32) -> u32 {
    wait_until("a single child", || children(zygote).len() == 1).await;
    children(zygote)[0]
}

#[tokio::test]
async fn run_6_2_a_killed_child_fails_its_run_only() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let zygote = zygotes()[0];
    let host = Arc::new(TestHost::default());
    let limits = limits();
    let run_it = run_with(&sandbox, "print('before')\nt.hang()", &limits, host.clone());
    let kill_it = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        kill(children(zygote)[0]);
    };
    let (outcome, ()) = tokio::join!(run_it, kill_it);
    match outcome {
        Err(RunError::Died { reason, printed }) => {
            assert_eq!((reason.as_str(), printed.as_str()), ("it was killed (signal 9)", "before\n"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(value(&sandbox, "1").await, json!(1));
}

#[tokio::test]
async fn run_6_2_a_killed_zygote_is_started_again() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let zygote = zygotes()[0];
    let host = Arc::new(TestHost::default());
    let limits = limits();
    let run_it = run_with(&sandbox, "t.hang()", &limits, host.clone());
    let mut child = 0;
    let kill_it = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        child = children(zygote)[0];
        kill(zygote);
    };
    let (outcome, ()) = tokio::join!(run_it, kill_it);
    assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    assert_eq!(value(&sandbox, "1").await, json!(1));
    wait_until("the child's end", || !is_running(child)).await;
    assert_ne!(zygotes(), [zygote]);
}

#[tokio::test]
async fn a_zygote_killed_between_runs_is_not_noticed() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let zygote = zygotes()[0];
    kill(zygote);
    wait_until("the zygote's end", || !is_running(zygote)).await;
    assert_eq!(value(&sandbox, "1").await, json!(1));
}

#[tokio::test]
async fn dropping_the_sandbox_leaves_no_process() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let zygote = zygotes()[0];
    {
        let limits = limits();
        let host = Arc::new(TestHost::default());
        let looping = run_with(&sandbox, "while True: pass", &limits, host);
        let _ = tokio::time::timeout(Duration::from_millis(100), looping).await;
    }
    let spare = spare_of(zygote).await;
    drop(sandbox);
    wait_until("the zygote's end", || !fs::exists(format!("/proc/{zygote}")).unwrap()).await;
    wait_until("the spare child's end", || !is_running(spare)).await;
}

#[tokio::test]
async fn a_run_takes_the_spare_child_and_another_one_follows() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let zygote = zygotes()[0];
    let spare = spare_of(zygote).await;
    let host = Arc::new(TestHost::default());
    let limits = limits();
    let run_it = run_with(&sandbox, "t.hang()", &limits, host.clone());
    let mut next = 0;
    let kill_it = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        wait_until("another spare child", || children(zygote).len() == 2).await;
        next = children(zygote)[1];
        kill(spare);
    };
    let (outcome, ()) = tokio::join!(run_it, kill_it);
    assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    assert_eq!(spare_of(zygote).await, next);
}

#[tokio::test]
async fn run_6_2_a_spare_child_killed_between_runs_is_not_noticed() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let zygote = zygotes()[0];
    let spare = spare_of(zygote).await;
    kill(spare);
    wait_until("the spare child's end", || !is_running(spare)).await;
    assert_eq!(value(&sandbox, "2").await, json!(2));
}

#[tokio::test]
async fn a_spare_child_has_the_memory_limit_of_the_run_that_takes_it() {
    let sandbox = sandbox();
    let large = limits();
    let small = Limits { memory_bytes: 64 << 20, ..limits() };
    for (limits, is_enough) in [(&large, true), (&small, false), (&large, true), (&small, false)] {
        let host = Arc::new(TestHost::default());
        let outcome = run_with(&sandbox, "len('a' * (128 << 20))", limits, host).await;
        assert_eq!(outcome.is_ok(), is_enough, "{outcome:?}");
    }
}

#[tokio::test]
async fn s4_the_clock_of_a_run_starts_with_the_run() {
    let sandbox = sandbox();
    let limits = Limits { time: Duration::from_secs(2), ..limits() };
    for wait in [Duration::ZERO, limits.time] {
        // The spare child waits longer than the time limit.
        tokio::time::sleep(wait).await;
        let outcome = run_with(&sandbox, "1", &limits, Arc::new(TestHost::default())).await;
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[tokio::test]
async fn s6_a_program_sees_no_trace_of_its_childs_rehearsal() {
    let sandbox = sandbox();
    let own = "import __main__\n[name for name in vars(__main__) if not name.startswith('__')]";
    // The first child runs its program immediately. The second has waited, and rehearsed.
    assert_eq!(value(&sandbox, own).await, json!([]));
    let spare = spare_of(zygotes()[0]).await;
    wait_until("a rehearsal", || sleeps(spare) >= 2).await;
    assert_eq!(value(&sandbox, own).await, json!([]));
}

/// Returns how often a process has slept. A child sleeps before and after its rehearsal.
fn sleeps(process: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn s6_two_runs_draw_different_random_numbers() {
    let sandbox = sandbox();
    for source in [
        "random.random()",
        "random.Random().random()",
        "random.SystemRandom().random()",
        "__import__('uuid').uuid4().hex",
        "__import__('secrets').token_hex()",
    ] {
        let source = format!("import random\n{source}");
        assert_ne!(value(&sandbox, &source).await, value(&sandbox, &source).await, "{source}");
    }
    let seeded = "import random\nrandom.seed(7)\n[random.random(), random.Random(7).random()]";
    let numbers = value(&sandbox, seeded).await;
    assert_eq!(numbers, json!([0.323_832_764_833_162_37, 0.323_832_764_833_162_37]));
}

#[tokio::test]
async fn nothing_is_started_before_it_is_needed() {
    let sandbox = sandbox();
    assert!(zygotes().is_empty());
    sandbox.warm().await.unwrap();
    assert_eq!(zygotes().len(), 1);
}

#[tokio::test]
async fn an_invalid_worker_is_unavailable() {
    for (program, args, mention) in [
        ("/no/such/worker", vec![], "No such file"),
        ("/bin/true", vec![], "exit status: 0"),
        ("/bin/cat", vec!["/dev/null".into()], "exited"),
    ] {
        let worker = WorkerCommand { program: program.into(), args };
        let sandbox = sandbox_with(worker);
        match run(&sandbox, "1").await {
            Err(RunError::Unavailable { reason }) => assert!(reason.contains(mention), "{reason}"),
            other => panic!("{program}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn run_6_5_concurrent_runs_share_nothing() {
    let sandbox = sandbox();
    let runs =
        (0..20).map(|i| {
            let sandbox = &sandbox;
            async move {
                value(sandbox, &format!("x = {i}\nfor _ in range(1000): x += 1\n[x, t.value({i})]")).await
            }
        });
    let values = futures::future::join_all(runs).await;
    let expected: Vec<_> = (0..20).map(|i| json!([i + 1000, i])).collect();
    assert_eq!(values, expected);
}

#[tokio::test]
async fn r4_hundreds_of_runs_leave_no_descriptors() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let zygote = zygotes()[0];
    let count = |process: &str| fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    spare_of(zygote).await;
    let zygote_before = count(&zygote.to_string());
    for _ in 0..300 {
        value(&sandbox, "t.value(1)").await;
    }
    spare_of(zygote).await;
    // Both counts may include the spare child's descriptors, which the zygote closes right after the fork.
    wait_until("no more descriptors than before", || count(&zygote.to_string()) <= zygote_before).await;
}

#[tokio::test]
async fn cage_4_a_child_that_crashes_takes_its_zygote_with_it() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let zygote = zygotes()[0];
    // The next run takes this child.
    let child = Pid::from_raw(spare_of(zygote).await.try_into().unwrap()).unwrap();
    let host = Arc::new(TestHost::default());
    let limits = limits();
    let crashes = run_with(&sandbox, "t.hang()", &limits, host.clone());
    let kill_it = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        kill_process(child, Signal::ILL).unwrap();
    };
    let (outcome, ()) = tokio::join!(crashes, kill_it);
    assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    assert_eq!(value(&sandbox, "1").await, json!(1));
    wait_until("the old zygote's end", || !is_running(zygote)).await;
    assert_eq!(zygotes().len(), 1);
}

#[tokio::test]
async fn cage_4_a_run_that_we_end_keeps_the_zygote() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let zygote = zygotes();
    let short = Limits { time: Duration::from_millis(200), ..limits() };
    let outcome = run_with(&sandbox, "while True: pass", &short, Arc::new(TestHost::default())).await;
    assert!(matches!(&outcome, Err(RunError::Limit { .. })), "{outcome:?}");
    assert_eq!(value(&sandbox, "1").await, json!(1));
    assert_eq!(zygotes(), zygote);
}

#[tokio::test]
async fn cage_4_addresses_differ_from_one_zygote_to_the_next() {
    let addresses = async || {
        let sandbox = sandbox();
        sandbox.warm().await.unwrap();
        let maps = fs::read_to_string(format!("/proc/{}/maps", zygotes()[0])).unwrap();
        let start = |name: &str| {
            let line = maps.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{maps}"));
            line.split('-').next().unwrap().to_owned()
        };
        ["[heap]", "[stack]", "onetool-sandbox-worker"].map(start)
    };
    let (first, second) = (addresses().await, addresses().await);
    for (first, second) in first.iter().zip(&second) {
        assert_ne!(first, second);
    }
}

#[tokio::test]
async fn l6_no_descriptor_of_the_gateway_reaches_a_program() {
    let leaked = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let sandbox = sandbox();
    let host = Arc::new(TestHost::default());
    let limits = limits();
    let run_it = run_with(&sandbox, "t.hang()", &limits, host.clone());
    let targets = |process: u32| -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
        let mut targets: Vec<String> = entries
            .map(|entry| fs::read_link(entry.path()).unwrap().to_string_lossy().into_owned())
            .map(|target| target.split(':').next().unwrap().to_owned())
            .collect();
        targets.sort();
        targets
    };
    let look = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        let zygote = zygotes()[0];
        // /dev/null: standard input and output, and the replacement of the control socket. Pipes: standard error, and
        // both ends of the pipe that wakes the event loop. Socket: the connection to the gateway.
        let expected = ["/dev/null", "/dev/null", "/dev/null", "pipe", "pipe", "pipe", "socket"];
        assert_eq!(targets(children(zygote)[0]), expected);
        assert!(!targets(zygote).iter().any(|target| target.contains("deleted")), "{:?}", targets(zygote));
    };
    tokio::select! {
        outcome = run_it => panic!("{outcome:?}"),
        () = look => {}
    }
}

#[tokio::test]
async fn h9_the_kernel_ends_programs_before_the_gateway() {
    let sandbox = sandbox();
    value(&sandbox, "1").await;
    let score = |process: u32| fs::read_to_string(format!("/proc/{process}/oom_score_adj")).unwrap();
    let zygote = zygotes()[0];
    assert_eq!(score(zygote).trim(), "1000");
    assert_eq!(score(spare_of(zygote).await).trim(), "1000");
}

const GATEWAY_HALF: &str = "ONETOOL_SANDBOX_GATEWAY_HALF";

/// Not a separate test, but the process that the test below kills.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the child half of the test below")]
async fn gateway_half() {
    if std::env::var(GATEWAY_HALF).is_err() {
        return;
    }
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let limits = limits();
    let host = Arc::new(TestHost::default());
    let looping = run_with(&sandbox, "t.value(1)\nwhile True: pass", &limits, host.clone());
    let report = async {
        wait_until("a call", || !host.calls.lock().unwrap().is_empty()).await;
        wait_until("a spare child", || children(zygotes()[0]).len() == 2).await;
        let children = children(zygotes()[0]);
        println!("\nzygote={} child={} spare={}", zygotes()[0], children[0], children[1]);
    };
    let _ = tokio::join!(looping, report);
}

#[tokio::test]
async fn r7_a_killed_gateway_leaves_no_process() {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let mut gateway = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::gateway_half", "--nocapture"])
        .env(GATEWAY_HALF, "1")
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let report = loop {
        let line = lines.next_line().await.unwrap().expect("the gateway ended early");
        if line.starts_with("zygote=") {
            break line;
        }
    };
    let processes: Vec<u32> =
        report.split(' ').map(|part| part.split('=').nth(1).unwrap().parse().unwrap()).collect();
    assert!(processes.iter().all(|process| is_running(*process)));
    gateway.kill().await.unwrap();
    wait_until("the end of all processes", || !processes.iter().any(|process| is_running(*process))).await;
}
