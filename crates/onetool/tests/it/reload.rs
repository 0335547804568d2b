//! R6: a reload applies a new configuration immediately and completely, or not at all.

use std::sync::Arc;
use std::time::Duration;

use insta::assert_snapshot;
use onetool::{CallContext, JsonObject, tool_fn};
use onetool_testkit::{Client, Notification};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::{beyond_surface, config, gateway};

fn tool(name: &str, output: &str) -> String {
    format!("  - {{name: {name}, description: d, command: [printf, {output}]}}\n")
}

#[tokio::test]
async fn r6_a_broken_configuration_keeps_the_old_one_active_and_names_the_line() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), &format!("tools:\n{}", tool("demo.a", "one")));
    let broken = folder.path().join("onetool.yaml");
    std::fs::write(&broken, "tools:\n  - name: demo.b\n    comand: [echo]\n").unwrap();
    let error = onetool::config::load(&broken, &|_| None).unwrap_err();
    assert_eq!(error.location().unwrap().line, 3);
    assert!(
        error.to_string().contains("comand") && error.to_string().contains("did you mean 'command'"),
        "{error}"
    );

    // One that parses but cannot be applied changes nothing either.
    let clashing = format!("tools:\n{}{}", tool("demo.b", "two"), tool("run", "x"));
    let error = gateway.reload(config(folder.path(), &clashing)).unwrap_err();
    assert_eq!(error.location().unwrap().line, 3);
    let client = Client::connect(gateway.server()).await;
    assert_eq!(beyond_surface(&client).await, ["demo_a"]);
    assert_eq!(client.call_text("demo_a", json!({})).await, "one");
}

#[tokio::test]
async fn r6_a_valid_configuration_is_active_immediately_and_drops_no_call() {
    let folder = TempDir::new().unwrap();
    let gateway =
        gateway(folder.path(), &format!("tools:\n{}{}", tool("demo.a", "one"), tool("demo.b", "x")));
    let (started, resume) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (handler_started, handler_resume) = (started.clone(), resume.clone());
    gateway
        .server()
        .register_tool(tool_fn("code.slow", "", move |_: JsonObject, _: CallContext| {
            let (started, resume) = (handler_started.clone(), handler_resume.clone());
            async move {
                started.notify_one();
                resume.notified().await;
                "not lost"
            }
        }))
        .unwrap();
    let mut client = Client::connect(gateway.server()).await;
    assert_eq!(beyond_surface(&client).await.len(), 3);
    let server = gateway.server().clone();
    let slow =
        tokio::spawn(
            async move { server.call("code.slow", JsonObject::new(), CallContext::detached()).await },
        );
    started.notified().await;

    let yaml = format!("tools:\n{}{}http: {{title: x}}\n", tool("demo.a", "two"), tool("demo.c", "y"));
    let report = gateway.reload(config(folder.path(), &yaml)).unwrap();
    assert_snapshot!(format!("{report:?}"), @r#"ReloadReport { added: ["demo.c"], removed: ["demo.b"], on_restart: [], waiting: [] }"#);
    client.expect_notifications(vec![Notification::ToolsChanged]).await;
    assert_eq!(beyond_surface(&client).await, ["code_slow", "demo_a", "demo_c"]);
    assert_eq!(client.call_text("demo_a", json!({})).await, "two");

    resume.notify_one();
    let output = tokio::time::timeout(Duration::from_secs(10), slow).await.unwrap().unwrap().unwrap();
    assert_eq!(output.content[0].as_text(), Some("not lost"));
}
