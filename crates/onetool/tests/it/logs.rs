//! L2, L3 and L4: what is logged, secrets that never appear, and paths that are never written.

use onetool::{CallContext, JsonObject, ToolError, tool_fn};
use onetool_testkit::CapturedLogs;
use serde_json::json;
use tempfile::TempDir;

use crate::{Text, gateway_with_run, object, server};

#[tokio::test]
async fn l3_the_log_has_outcome_and_sizes_and_never_a_value() {
    let logs = CapturedLogs::start(tracing::Level::INFO);
    let server = server();
    server
        .register_tool(tool_fn("demo.echo", "", |args: Text, _: CallContext| async move { args.text }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.fail", "", |args: Text, _: CallContext| async move {
            Err::<String, _>(ToolError::failed(format!("cannot use {}", args.text)))
        }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.panic", "", |_: JsonObject, _: CallContext| async {
            let missing: Option<&str> = std::hint::black_box(None);
            missing.expect("canary-panic")
        }))
        .unwrap();
    let call = async |name: &str, args| server.call(name, object(args), CallContext::detached()).await;
    call("demo.echo", json!({"text": "canary-value"})).await.unwrap();
    call("demo.echo", json!({"text": ["canary-value"]})).await.unwrap_err();
    call("demo.fail", json!({"text": "canary-value"})).await.unwrap_err();
    call("demo.panic", json!({})).await.unwrap_err();
    call("canary.unknown", json!({"text": "canary-value"})).await.unwrap_err();
    let text = logs.text();
    for expected in [
        "tool=\"demo.echo\"",
        "outcome=\"ok\"",
        "outcome=\"invalid\"",
        "outcome=\"failed\"",
        "outcome=\"panicked\"",
        "outcome=\"unknown\"",
        "args_size=23",
        "took_ms=",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(
        text.contains(r#"reason="cannot use ***""#),
        "a handler's reason, with argument values redacted: {text}"
    );
    assert!(!text.contains("canary-value"), "{text}");
}

#[tokio::test]
async fn l3_code_is_logged_by_its_length_and_hash() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), "version: 1\n", |_| {});
    let logs = CapturedLogs::start(tracing::Level::INFO);
    let run = async |code: &str| {
        let args = object(json!({"command": code}));
        gateway.server().call("run", args, CallContext::detached()).await.unwrap()
    };
    run("x = 'canary-code'\nlen(x)").await;
    run("ot.help(query='canary-code')").await;
    run("raise ValueError('canary-code')").await;
    let text = logs.text();
    assert!(text.contains("code_size=24") && text.contains("code_hash="), "{text}");
    assert!(!text.contains("canary-code"), "{text}");
}

#[tokio::test]
async fn l2_a_secret_is_in_no_result_about_the_gateway_itself() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secrets.yaml"), "KEY: canary-secret-4711\n").unwrap();
    let yaml = r#"
tools:
  - {name: demo.env, description: d, command: [printenv, KEY], env: {KEY: "${KEY}"}}
http: {token: "${KEY}"}
output: {max_inline_size: 10}
"#;
    let gateway = gateway_with_run(folder.path(), yaml, |_| {});
    let call = async |name: &str, args| {
        let output = gateway.server().call(name, object(args), CallContext::detached()).await.unwrap();
        serde_json::to_string(&output).unwrap()
    };
    // A call that returns the secret itself, so that it passes through the store and the statistics.
    assert!(call("demo.env", json!({})).await.contains("canary-secret"));
    for function in ["ot.config", "ot.health", "ot.tools", "ot.packs", "ot.help", "ot.snippets"] {
        let text = call(function, json!({})).await;
        assert!(!text.contains("canary-secret"), "{function}: {text}");
    }
    let stats = call("ot.stats", json!({"output": "stats.html"})).await;
    assert!(stats.contains("demo.env") && !stats.contains("canary-secret"), "{stats}");
    let page = std::fs::read_to_string(folder.path().join("stats.html")).unwrap();
    assert!(page.contains("demo.env") && !page.contains("canary-secret"));
}

#[tokio::test]
async fn l4_no_path_from_an_agent_leads_out_of_the_working_directory() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("work");
    std::fs::create_dir(&root).unwrap();
    std::os::unix::fs::symlink(folder.path(), root.join("link")).unwrap();
    let gateway = gateway_with_run(&root, "version: 1\n", |_| {});
    for output in ["../out.html", "/tmp/onetool-l4.html", "link/out.html", "a/../../out.html"] {
        let args = object(json!({"output": output}));
        let result = gateway.server().call("ot.stats", args, CallContext::detached()).await.unwrap();
        let text = result.content[0].as_text().unwrap();
        assert!(text.starts_with(&format!("Error: Cannot write to '{output}': ")), "{text}");
    }
    let outside: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(outside, ["work"]);
}
