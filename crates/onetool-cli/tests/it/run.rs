//! `run` in the real binary: killed processes, disconnected clients, a full disk.

use std::fs;
use std::process::Stdio;

use onetool_testkit::{Client, Era, RawClient};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::{Sandbox, WAIT_LIMIT, is_running, send_signal, wait_for_async};

const SLEEP: &str = r#"
tools:
  - name: demo.sleep
    description: Sleeps.
    params: {seconds: {type: string}}
    command: [sleep, "{{ seconds }}"]
run: {timeout: 60}
"#;

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

async fn client(child: &mut Child, era: Era) -> Client {
    Client::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap(), era).await
}

async fn run(client: &Client, code: &str) -> String {
    client.call_text("run", json!({"command": code})).await
}

/// Returns the children of a process.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().map(|it| it.parse().unwrap()).collect::<Vec<u32>>())
        .collect()
}

/// Returns the children of a process whose command line contains `text`.
fn children_matching(parent: u32, text: &str) -> Vec<u32> {
    let matches = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(text)
    };
    children(parent).into_iter().filter(matches).collect()
}

/// Returns the zygote that runs of Python are forked from. Its parent is the worker that set up its namespaces.
async fn find_zygote(gateway: u32) -> u32 {
    // A worker that was replaced may not have ended yet.
    let only_worker = || <[u32; 1]>::try_from(children_matching(gateway, "__worker python")).ok();
    children(wait_for_async("a single worker", only_worker).await[0])[0]
}

#[tokio::test]
async fn run_6_2_a_killed_process_fails_its_run_with_a_reason_and_the_next_one_works() {
    for era in Era::BOTH {
        let sandbox = Sandbox::with_config(SLEEP);
        let mut child = spawn(sandbox.command(&["serve"]).into());
        let gateway = child.id().unwrap();
        let client = client(&mut child, era).await;
        assert_eq!(run(&client, "x = 1\nx").await, "1");
        for victim in ["the code's own process", "the process it was forked from"] {
            let zygote = find_zygote(gateway).await;
            wait_for_async("the end of the last run's process", || {
                (children(zygote).len() == 1).then_some(())
            })
            .await;
            let kill = async {
                wait_for_async("the tool call", || {
                    children_matching(gateway, "sleep 54321").first().copied()
                })
                .await;
                // The child that runs the code was forked before the one that is ready for the next run.
                let code = || children(zygote).into_iter().min().unwrap();
                let process = if victim == "the code's own process" { code() } else { zygote };
                send_signal(process, Signal::KILL);
            };
            let (text, ()) =
                tokio::join!(run(&client, "print('so far')\ndemo.sleep(seconds='54321')\n'end'"), kill);
            let expected = if victim == "the code's own process" {
                "it was killed (signal 9)"
            } else {
                "the process it was forked from died"
            };
            assert!(text.starts_with("error: so far\n") && text.contains(expected), "{victim}: {text}");
            wait_for_async("the end of the tool call", || {
                children_matching(gateway, "sleep").is_empty().then_some(())
            })
            .await;
            assert_eq!(run(&client, "x = 1\nx + 1").await, "2", "after {victim}");
        }
    }
}

#[tokio::test]
async fn run_6_4_s5_a_client_that_closed_both_pipes_stops_its_code_and_the_server() {
    let sandbox = Sandbox::with_config(SLEEP);
    let mut child = spawn(sandbox.command(&["serve"]).into());
    let gateway = child.id().unwrap();
    let mut client = RawClient::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    let code =
        "import asyncio\nawait asyncio.gather(demo.sleep(seconds='54322'), demo.sleep(seconds='54322'))";
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": code}}});
    client.send_line(&call.to_string()).await;
    let sleeping = wait_for_async("two tool calls", || {
        let sleeping = children_matching(gateway, "sleep 54322");
        (sleeping.len() == 2).then_some(sleeping)
    })
    .await;
    let zygote = find_zygote(gateway).await;
    drop(client);
    let ended = tokio::time::timeout(WAIT_LIMIT, child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    for process in sleeping.into_iter().chain([zygote]) {
        wait_for_async("the end of a process", || (!is_running(process)).then_some(())).await;
    }
}

#[tokio::test]
async fn s5_a_client_that_closed_only_its_output_gets_its_response() {
    let sandbox = Sandbox::with_config(SLEEP);
    let mut child = spawn(sandbox.command(&["serve"]).into());
    let mut client = RawClient::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    // The sleep is under test: the server sees the end of its input during the call, which nothing outside can observe.
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": "import time\ntime.sleep(0.2)\n'late'"}}});
    client.send_line(&call.to_string()).await;
    client.close_input().await;
    assert_eq!(client.response().await["result"]["content"][0]["text"], "late");
}

#[tokio::test]
async fn r8_on_a_full_disk_results_are_kept_in_memory_and_that_is_said_once() {
    let sandbox = Sandbox::with_config("output: {max_inline_size: 1000}");
    // No file may grow beyond a kilobyte, which SQLite treats like a full disk.
    let onetool = sandbox.command(&["serve"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" serve"]).arg(onetool.get_program());
    command.current_dir(sandbox.path()).env_clear();
    command.envs(onetool.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = spawn(command);
    let mut stderr = child.stderr.take().unwrap();
    let client = client(&mut child, Era::Sessions).await;
    for round in 0..3 {
        let text = run(&client, &format!("x = ['{round} line %d' % i for i in range(2000)]\nx")).await;
        let stored: Value =
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("not a stored result: {text}"));
        let handle = stored["handle"].as_str().unwrap();
        let page =
            run(&client, &format!("x = ot.result(handle='{handle}', offset=3, limit=1)['lines']\nx")).await;
        assert_eq!(page, format!(r#"["  \"{round} line 1\","]"#));
    }
    assert!(run(&client, "x = ot.stats()['total_calls']\nx").await.parse::<u32>().unwrap() >= 3);
    client.close().await;
    let mut log = String::new();
    stderr.read_to_string(&mut log).await.unwrap();
    assert_eq!(log.matches("cannot use the database").count(), 1, "{log}");
    assert!(log.contains("are kept in memory"), "{log}");
}
