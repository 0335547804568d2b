//! `onetool serve` as the child of an MCP client.

use std::process::Stdio;

use onetool_testkit::{Client, Era, Notification, RawClient};
use rustix::process::Signal;
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};

use crate::{ECHO, Sandbox, WAIT_LIMIT, is_running, send_signal, wait_for_async};

fn spawn(sandbox: &Sandbox) -> Child {
    let mut command = Command::from(sandbox.command(&["serve"]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

/// Reads what a server prints to stderr until it contains `text`.
async fn read_log_until(stderr: &mut ChildStderr, text: &str) -> String {
    let read = async {
        let mut log = String::new();
        while !log.contains(text) {
            let mut chunk = [0; 1024];
            let count = stderr.read(&mut chunk).await.unwrap();
            assert!(count > 0, "the server exited: {log}");
            log.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
        log
    };
    tokio::time::timeout(WAIT_LIMIT, read).await.unwrap()
}

async fn exit_code(child: &mut Child) -> Option<i32> {
    tokio::time::timeout(WAIT_LIMIT, child.wait()).await.unwrap().unwrap().code()
}

/// Returns the names of the tools that are always listed, and one more.
fn listed_tools(own: &str) -> [&str; 6] {
    ["run", "tool_find", "tool_describe", "tool_load", "tool_active", own]
}

#[tokio::test]
async fn a_client_of_either_era_lists_and_calls() {
    for era in Era::BOTH {
        let sandbox = Sandbox::with_config(ECHO);
        let mut child = spawn(&sandbox);
        let client =
            Client::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap(), era).await;
        assert_eq!(client.tool_names().await, listed_tools("demo_echo"));
        assert_eq!(client.call_text("demo_echo", json!({"text": "hi"})).await, "hi");
        assert!(
            client.read("onetool://tools").await.unwrap()["text"].as_str().unwrap().contains("demo.echo")
        );
        client.close().await;
        assert_eq!(exit_code(&mut child).await, Some(0), "the server exits with its client");
    }
}

#[tokio::test]
async fn r6_a_hangup_reloads_and_a_broken_file_changes_nothing() {
    let sandbox = Sandbox::with_config(ECHO);
    let mut child = spawn(&sandbox);
    let mut client =
        Client::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap(), Era::Sessions).await;
    assert_eq!(client.tool_names().await, listed_tools("demo_echo"));
    sandbox.write_config("tools: [{name: demo.new, description: d, command: [printf, new]}]");
    send_signal(child.id().unwrap(), Signal::HUP);
    client.expect_notifications(vec![Notification::ToolsChanged]).await;
    assert_eq!(client.call_text("demo_new", json!({})).await, "new");

    sandbox.write_config("tools: [{name: demo.newer, descrption: d}]");
    send_signal(child.id().unwrap(), Signal::HUP);
    let mut stderr = child.stderr.take().unwrap();
    let log = read_log_until(&mut stderr, "onetool.yaml:1: unknown key 'descrption'").await;
    assert!(log.contains("configuration not reloaded, keeping the current one: "), "{log}");
    assert_eq!(client.tool_names().await, listed_tools("demo_new"));
}

#[tokio::test]
async fn r7_sigterm_lets_the_in_flight_call_finish_and_exits_with_0() {
    let sandbox = Sandbox::with_config(
        "tools: [{name: demo.slow, description: d, command: [sh, -c, 'touch started; while [ ! -e finish ]; do sleep 0.01; done; printf done']}]",
    );
    let mut child = spawn(&sandbox);
    let mut client = RawClient::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "demo_slow"}});
    client.send_line(&call.to_string()).await;
    wait_for_file(&sandbox, "started").await;
    send_signal(child.id().unwrap(), Signal::TERM);
    // The call ends only after the server has begun to shut down.
    let mut stderr = child.stderr.take().unwrap();
    read_log_until(&mut stderr, "shutting down").await;
    std::fs::write(sandbox.path().join(".onetool/finish"), "").unwrap();
    let response = client.response().await;
    assert_eq!(response["result"]["content"][0]["text"], "done", "{response}");
    assert_eq!(exit_code(&mut child).await, Some(0));
}

#[tokio::test]
async fn r7_no_child_of_a_command_tool_survives_a_cancelled_call() {
    let sandbox = Sandbox::with_config(
        "tools: [{name: demo.slow, description: d, timeout: 1, command: [sh, -c, 'sleep 600 & echo $! > pid; wait']}]",
    );
    let mut child = spawn(&sandbox);
    let client =
        Client::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap(), Era::Sessions).await;
    // The timeout is under test, so this waits for it.
    let text = client.call_text("demo_slow", json!({})).await;
    assert!(text.contains("did not finish within 1 s"), "{text}");
    let pid = std::fs::read_to_string(sandbox.path().join(".onetool/pid")).unwrap();
    let grandchild = pid.trim().parse().unwrap();
    wait_for_async("the end of the grandchild", || (!is_running(grandchild)).then_some(())).await;
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
    let mut client = RawClient::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap());
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
    assert!(stderr.contains("chmod 600"), "a readable secrets.yaml causes a warning: {stderr}");
    assert!(written.contains("demo.fail") && written.contains("[redacted]"), "{written}");
    assert!(!written.contains("canary") && !stderr.contains("canary"), "{written}\n{stderr}");
}

async fn wait_for_file(sandbox: &Sandbox, name: &str) {
    let path = sandbox.path().join(".onetool").join(name);
    wait_for_async(name, || path.exists().then_some(())).await;
}
