//! `onetool serve` as the child of an MCP client.

use std::process::Stdio;
use std::time::Duration;

use onetool_testkit::{Client, Era, Notice, RawClient};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::{ECHO, Sandbox};

fn spawn(sandbox: &Sandbox) -> Child {
    let mut command = Command::from(sandbox.command(&["serve"]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    let id = i32::try_from(child.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

async fn exit_code(child: &mut Child) -> Option<i32> {
    tokio::time::timeout(Duration::from_secs(10), child.wait()).await.unwrap().unwrap().code()
}

/// Returns the tools that every list has, and one more.
fn tools_and(own: &str) -> [&str; 6] {
    ["run", "tool_find", "tool_describe", "tool_load", "tool_active", own]
}

#[tokio::test]
async fn a_client_of_either_era_lists_and_calls() {
    for era in Era::BOTH {
        let sandbox = Sandbox::with_config(ECHO);
        let mut child = spawn(&sandbox);
        let client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap(), era).await;
        assert_eq!(client.tool_names().await, tools_and("demo_echo"));
        assert_eq!(client.call_text("demo_echo", json!({"text": "hi"})).await, "hi");
        assert!(
            client.read("onetool://tools").await.unwrap()["text"].as_str().unwrap().contains("demo.echo")
        );
        client.close().await;
        assert_eq!(exit_code(&mut child).await, Some(0), "the server ends with its client");
    }
}

#[tokio::test]
async fn r6_a_hangup_reloads_and_a_broken_file_changes_nothing() {
    let sandbox = Sandbox::with_config(ECHO);
    let mut child = spawn(&sandbox);
    let mut client =
        Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap(), Era::Sessions).await;
    assert_eq!(client.tool_names().await, tools_and("demo_echo"));
    sandbox.write_config("tools: [{name: demo.new, description: d, command: [printf, new]}]");
    send(&child, Signal::HUP);
    client.expect_notices(vec![Notice::Tools]).await;
    assert_eq!(client.call_text("demo_new", json!({})).await, "new");

    sandbox.write_config("tools: [{name: demo.newer, descrption: d}]");
    send(&child, Signal::HUP);
    let mut log = String::new();
    let mut stderr = child.stderr.take().unwrap();
    while !log.contains("the old configuration stays in force") {
        let mut piece = [0; 1024];
        let count =
            tokio::time::timeout(Duration::from_secs(10), stderr.read(&mut piece)).await.unwrap().unwrap();
        log.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    assert!(log.contains("onetool.yaml:1: unknown key 'descrption'"), "{log}");
    assert_eq!(client.tool_names().await, tools_and("demo_new"));
}

#[tokio::test]
async fn r7_sigterm_lets_the_call_under_way_end_and_exits_with_0() {
    let sandbox = Sandbox::with_config(
        "tools: [{name: demo.slow, description: d, command: [sh, -c, 'touch started; sleep 0.5; printf done']}]",
    );
    let mut child = spawn(&sandbox);
    let mut client = RawClient::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "demo_slow"}});
    client.send_line(&call.to_string()).await;
    wait_for_file(&sandbox, "started").await;
    send(&child, Signal::TERM);
    let answer = client.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    assert_eq!(exit_code(&mut child).await, Some(0));
}

#[tokio::test]
async fn r7_no_child_of_a_command_tool_survives_a_cancelled_call() {
    let sandbox = Sandbox::with_config(
        "tools: [{name: demo.slow, description: d, timeout: 0.3, command: [sh, -c, 'sleep 5 & echo $! > pid; wait']}]",
    );
    let mut child = spawn(&sandbox);
    let client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap(), Era::Sessions).await;
    let text = client.call_text("demo_slow", json!({})).await;
    assert!(text.contains("did not end within 0.3 s"), "{text}");
    let grandchild: i32 =
        std::fs::read_to_string(sandbox.path().join(".onetool/pid")).unwrap().trim().parse().unwrap();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    for _ in 0..100 {
        if !is_alive() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {grandchild} still runs");
}

#[tokio::test]
async fn l2_a_secret_shows_nowhere_in_what_the_process_writes() {
    let sandbox = Sandbox::with_config(
        r#"
tools:
  - {name: demo.down, description: d, http: {url: "http://127.0.0.1:1/", headers: {Authorization: "Bearer ${KEY}"}}}
  - {name: demo.fail, description: d, env: {KEY: "${KEY}"}, command: [sh, -c, "echo with $KEY >&2; exit 1"]}
"#,
    );
    std::fs::write(sandbox.path().join(".onetool/secrets.yaml"), "KEY: canary-secret-4711\n").unwrap();
    let mut command = Command::from(sandbox.command(&["serve"]));
    command.env("ONETOOL_LOG", "debug").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut client = RawClient::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let mut written = client.initialize().await.to_string();
    for tool in ["demo_down", "demo_fail"] {
        written.push_str(
            &client.request("tools/call", json!({"name": tool, "arguments": {}})).await.to_string(),
        );
    }
    for uri in ["onetool://tools", "onetool://tool/demo.down"] {
        written.push_str(&client.request("resources/read", json!({"uri": uri})).await.to_string());
    }
    client.close_input().await;
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).await.unwrap();
    assert!(stderr.contains("chmod 600"), "a readable secrets.yaml is warned of: {stderr}");
    assert!(written.contains("demo.fail") && written.contains("[redacted]"), "{written}");
    assert!(!written.contains("canary") && !stderr.contains("canary"), "{written}\n{stderr}");
}

async fn wait_for_file(sandbox: &Sandbox, name: &str) {
    let path = sandbox.path().join(".onetool").join(name);
    for _ in 0..500 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} never appeared", path.display());
}
