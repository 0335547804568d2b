//! `run` in the real process: what is killed, what goes away, what the disk does.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use onetool_testkit::{Client, Era, RawClient};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::Sandbox;

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
    Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap(), era).await
}

async fn run(client: &Client, code: &str) -> String {
    client.call_text("run", json!({"command": code})).await
}

/// Gives the children of a process.
fn children(of: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().map(|it| it.parse().unwrap()).collect::<Vec<u32>>())
        .collect()
}

/// Gives the children whose command line has these words.
fn children_like(of: u32, words: &str) -> Vec<u32> {
    let is_like = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
    };
    children(of).into_iter().filter(is_like).collect()
}

/// Returns the process that Python is forked from, behind the one that put it into its namespaces.
async fn zygote_of(gateway: u32) -> u32 {
    // One that was replaced may still be about to end.
    let fronts = || <[u32; 1]>::try_from(children_like(gateway, "__worker python")).ok();
    children(wait_for("one worker", fronts).await[0])[0]
}

fn kill(process: u32) {
    kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
}

async fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), found).await.unwrap_or_else(|_| panic!("{what}: never"))
}

#[tokio::test]
async fn run_6_2_what_is_killed_fails_its_run_with_a_reason_and_the_next_one_works() {
    for era in Era::BOTH {
        let sandbox = Sandbox::with_config(SLEEP);
        let mut child = spawn(sandbox.command(&["serve"]).into());
        let gateway = child.id().unwrap();
        let client = client(&mut child, era).await;
        assert_eq!(run(&client, "x = 1\nx").await, "1");
        for victim in ["the code's own process", "the process it was forked from"] {
            let zygote = zygote_of(gateway).await;
            // The one that waits for the next run, once the child of the last one is gone.
            let code = wait_for("the code", || <[u32; 1]>::try_from(children(zygote)).ok()).await[0];
            let kill_it = async {
                wait_for("its call", || children_like(gateway, "sleep 54321").first().copied()).await;
                kill(if victim == "the code's own process" { code } else { zygote });
            };
            let (text, ()) =
                tokio::join!(run(&client, "print('so far')\ndemo.sleep(seconds='54321')\n'end'"), kill_it);
            let expected = if victim == "the code's own process" {
                "it was killed (signal 9)"
            } else {
                "the process it was forked from died"
            };
            assert!(text.starts_with("error: so far\n") && text.contains(expected), "{victim}: {text}");
            wait_for("the call's end", || children_like(gateway, "sleep").is_empty().then_some(())).await;
            assert_eq!(run(&client, "x = 1\nx + 1").await, "2", "after {victim}");
        }
    }
}

#[tokio::test]
async fn run_6_4_s5_a_client_that_closed_both_pipes_stops_its_code_and_the_server() {
    let sandbox = Sandbox::with_config(SLEEP);
    let mut child = spawn(sandbox.command(&["serve"]).into());
    let gateway = child.id().unwrap();
    let mut client = RawClient::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    let code =
        "import asyncio\nawait asyncio.gather(demo.sleep(seconds='54322'), demo.sleep(seconds='54322'))";
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": code}}});
    client.send_line(&call.to_string()).await;
    let sleeping = wait_for("two calls", || {
        let sleeping = children_like(gateway, "sleep 54322");
        (sleeping.len() == 2).then_some(sleeping)
    })
    .await;
    let zygote = zygote_of(gateway).await;
    drop(client);
    let ended = tokio::time::timeout(Duration::from_secs(20), child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    for process in sleeping.into_iter().chain([zygote]) {
        wait_for("its end", || (!is_running(process)).then_some(())).await;
    }
}

fn is_running(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z'))
}

#[tokio::test]
async fn s5_a_client_that_closed_only_its_output_gets_its_answer() {
    let sandbox = Sandbox::with_config(SLEEP);
    let mut child = spawn(sandbox.command(&["serve"]).into());
    let mut client = RawClient::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": "import time\ntime.sleep(0.2)\n'late'"}}});
    client.send_line(&call.to_string()).await;
    client.close_input().await;
    assert_eq!(client.answer().await["result"]["content"][0]["text"], "late");
}

#[tokio::test]
async fn r8_on_a_full_disk_results_are_kept_in_memory_and_that_is_said_once() {
    let sandbox = Sandbox::with_config("output: {max_inline_size: 1000}");
    // No file of the process may grow over a few kilobytes: to SQLite that is what a full disk is.
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
        let stored: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no handle: {text}"));
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
