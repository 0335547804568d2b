//! Sessions: notifications, paging, progress, logs, requests to the client, cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onetool::{
    CallContext, InputRequest, InputRequired, JsonObject, LogLevel, PromptMessage, ReadRequest,
    ResourceContents, Server, ToolError, prompt_fn, resource_fn, tool_fn,
};
use onetool_testkit::{Client, Era, MinLogLevel, Notification, RawClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::server;

fn hello(name: &str) -> impl onetool::Tool {
    tool_fn(name, "", |_: JsonObject, _: CallContext| async { "hello" })
}

#[tokio::test]
async fn every_session_is_notified_of_changes() {
    let server = server();
    let document = |uri| {
        resource_fn(uri, "r", |_: ReadRequest, _: CallContext| async {
            ResourceContents::text("", "text/plain")
        })
    };
    server.register_resource(document("a://1")).unwrap();
    server
        .register_prompt(prompt_fn("p", "", |(): (), _: CallContext| async { PromptMessage::user("") }))
        .unwrap();
    let mut clients = Vec::new();
    for _ in 0..3 {
        let client = Client::connect(&server).await;
        // Sessions are notified only after `initialized`, which the server may not have read yet.
        client.subscribe("a://1").await.unwrap();
        clients.push(client.tool_names().await.is_empty().then_some(client).unwrap());
    }
    server.register_tool(hello("demo.late")).unwrap();
    server.register_resource(document("a://2")).unwrap();
    assert!(server.unregister_prompt("p"));
    server.notify_resource_updated("a://1");
    server.notify_resource_updated("a://2");
    for client in &mut clients {
        let expected = vec![
            Notification::ToolsChanged,
            Notification::ResourcesChanged,
            Notification::PromptsChanged,
            Notification::ResourceUpdated("a://1".into()),
        ];
        client.expect_notifications(expected).await;
        assert_eq!(client.tool_names().await, ["demo_late"]);
    }
}

#[tokio::test]
async fn long_lists_are_paged() {
    let server = Server::builder().page_size(10).build().unwrap();
    for number in 0..25 {
        server.register_tool(hello(&format!("demo.t{number:02}"))).unwrap();
    }
    let client = Client::connect(&server).await;
    let (tools, pages) = client.list_tools().await;
    assert_eq!((tools.len(), pages), (25, 3));
    assert_eq!(tools[24]["name"], "demo_t24");
    let error = client.list_tools_from("nonsense").await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "unknown cursor; list again from the start"));
}

#[tokio::test]
async fn progress_and_logs_reach_the_client_at_the_level_it_set() {
    let server = Server::builder().logging().build().unwrap();
    server
        .register_tool(tool_fn("demo.talk", "", |_: JsonObject, cx: CallContext| async move {
            cx.log(LogLevel::Debug, Some("demo"), "quiet").await;
            cx.log(LogLevel::Error, Some("demo"), "loud").await;
            cx.progress(1.0, Some(2.0), Some("half")).await;
            cx.progress(2.0, Some(2.0), None).await;
            "done"
        }))
        .unwrap();
    let mut client = Client::connect(&server).await;
    client.call("demo_talk", json!({})).await.unwrap();
    client
        .expect_notifications(vec![
            Notification::Log(json!("loud")),
            Notification::Progress(1.0),
            Notification::Progress(2.0),
        ])
        .await;
    client.set_level(MinLogLevel::Debug).await.unwrap();
    client.call("demo_talk", json!({})).await.unwrap();
    client
        .expect_notifications(vec![Notification::Log(json!("quiet")), Notification::Log(json!("loud"))])
        .await;
    client.set_level(MinLogLevel::Error).await.unwrap();
    client.call("demo_talk", json!({})).await.unwrap();
    client.expect_notifications(vec![Notification::Log(json!("loud"))]).await;
}

#[tokio::test]
async fn a_handler_requests_input_in_the_same_way_in_both_eras() {
    let server = server();
    server
        .register_tool(tool_fn("demo.ask", "", |_: JsonObject, cx: CallContext| async move {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let form = cx.ask("name", InputRequest::elicit("Who?", schema)).await?;
            let sampled = cx.ask("number", InputRequest::sample("Six times seven?", 10)).await?;
            Ok::<_, onetool::ToolError>(format!(
                "{} says {}",
                form["content"]["name"], sampled["content"]["text"]
            ))
        }))
        .unwrap();
    for era in Era::BOTH {
        let client = Client::connect_with(&server, era).await;
        assert_eq!(client.call_text("demo_ask", json!({})).await, r#""Ada" says "42""#, "{era:?}");
    }
}

#[tokio::test]
async fn seam_11_a_handler_that_cannot_run_again_requests_input_in_any_revision_and_runs_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let (server, counter) = (server(), runs.clone());
    server
        .register_tool(tool_fn("demo.ask", "", move |_: JsonObject, cx: CallContext| {
            let runs = counter.clone();
            async move {
                runs.fetch_add(1, Ordering::Relaxed);
                let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let name = cx.ask_in_place(InputRequest::elicit("Your name?", form)).await?;
                // Two concurrent requests, as from concurrent calls in code.
                let (first, second) = tokio::join!(
                    cx.ask_in_place(InputRequest::sample("What is 6 times 7?", 10)),
                    cx.ask_in_place(InputRequest::sample("What is 6 times 7?", 10))
                );
                let text = |it: Value| it["content"]["text"].clone();
                Ok::<_, ToolError>(format!("{} {} {}", name["content"]["name"], text(first?), text(second?)))
            }
        }))
        .unwrap();
    for era in Era::BOTH {
        let client = Client::connect_with(&server, era).await;
        assert_eq!(client.call_text("demo_ask", json!({})).await, r#""Ada" "42" "42""#, "{era:?}");
        assert_eq!(runs.swap(0, Ordering::Relaxed), 1, "{era:?}");
    }
}

#[tokio::test]
async fn seam_11_a_response_goes_only_to_the_call_that_requested_it() {
    let server = server();
    server
        .register_tool(tool_fn("demo.ask", "", |_: JsonObject, cx: CallContext| async move {
            Ok::<_, ToolError>(cx.ask_in_place(InputRequest::roots()).await?.to_string())
        }))
        .unwrap();
    let mut client = RawClient::connect(&server);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}}});
    let call = |id: u64, state: &Value, root: &str| {
        let mut params = json!({"_meta": meta, "name": "demo_ask"});
        if !state.is_null() {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({"question-1": {"roots": [{"uri": root}]}});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let mut states = Vec::new();
    for id in 1..=2 {
        client.send_line(&call(id, &Value::Null, "")).await;
        let asked = client.response().await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        assert_eq!(asked["result"]["inputRequests"]["question-1"]["method"], "roots/list", "{asked}");
        states.push(asked["result"]["requestState"].clone());
    }
    for (id, state, root) in [(3, &states[1], "file:///second"), (4, &states[0], "file:///first")] {
        client.send_line(&call(id, state, root)).await;
        let response = client.response().await;
        assert!(response["result"]["content"][0]["text"].as_str().unwrap().contains(root), "{response}");
    }
    // A request cannot be answered twice, and a state cannot be made up.
    for (id, state) in [(5, &states[0]), (6, &json!("made up"))] {
        client.send_line(&call(id, state, "file:///late")).await;
        let refused = client.response().await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

fn ask_for_roots() -> InputRequired {
    InputRequired { requests: [("roots".to_owned(), InputRequest::roots())].into(), state: None }
}

/// A server that requests the client's roots, which the test's client does not support.
fn asking_server() -> Server {
    let server = server();
    server
        .register_tool(tool_fn("demo.roots", "", |_: JsonObject, cx: CallContext| async move {
            Ok::<_, ToolError>(cx.ask("roots", InputRequest::roots()).await?.to_string())
        }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.by_hand", "", |_: JsonObject, _: CallContext| async move {
            Err::<String, _>(ToolError::InputRequired(Box::new(ask_for_roots())))
        }))
        .unwrap();
    server
        .register_prompt(prompt_fn("p", "", |(): (), cx: CallContext| async move {
            Ok::<_, ToolError>(PromptMessage::user(cx.ask("roots", InputRequest::roots()).await?.to_string()))
        }))
        .unwrap();
    server
        .register_resource(resource_fn(
            "a://{how}",
            "r",
            |request: ReadRequest, cx: CallContext| async move {
                if request.values["how"] == "by-hand" {
                    return Err(ToolError::InputRequired(Box::new(ask_for_roots())));
                }
                Ok(ResourceContents::text(
                    cx.ask("roots", InputRequest::roots()).await?.to_string(),
                    "text/plain",
                ))
            },
        ))
        .unwrap();
    server
}

#[tokio::test]
async fn an_input_request_that_the_client_does_not_support_is_rejected_by_name() {
    let client = Client::connect_with(&asking_server(), Era::Stateless).await;
    let errors = [
        client.call("demo_roots", json!({})).await.unwrap_err(),
        client.call("demo_by_hand", json!({})).await.unwrap_err(),
        client.prompt("p", json!({})).await.unwrap_err(),
        client.read("a://ask").await.unwrap_err(),
        client.read("a://by-hand").await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code, -32021, "{}", error.message);
        assert_eq!(error.data, Some(json!({"requiredCapabilities": {"roots": {}}})));
    }
}

#[tokio::test]
async fn a_session_never_gets_a_stateless_result() {
    let client = Client::connect_with(&asking_server(), Era::Sessions).await;
    assert_eq!(
        client.call_text("demo_roots", json!({})).await,
        "error: tool 'demo.roots' failed: the client does not support roots"
    );
    assert!(client.call_text("demo_by_hand", json!({})).await.starts_with("error: "));
    assert!(client.prompt("p", json!({})).await.unwrap_err().message.contains("roots"));
    assert!(client.read("a://by-hand").await.unwrap_err().code != 0);
}

#[tokio::test]
async fn a_canceled_call_stops_its_handler() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (started, stopped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = server();
    let (handler_started, handler_stopped) = (started.clone(), stopped.clone());
    server
        .register_tool(tool_fn("demo.forever", "", move |_: JsonObject, _: CallContext| {
            let (started, dropped) = (handler_started.clone(), Dropped(handler_stopped.clone()));
            async move {
                let _dropped = dropped;
                started.notify_one();
                std::future::pending::<()>().await;
            }
        }))
        .unwrap();
    server.register_tool(hello("demo.hello")).unwrap();
    let client = Client::connect(&server).await;
    client.call_and_cancel("demo_forever", json!({}), started.notified()).await;
    tokio::time::timeout(Duration::from_secs(10), stopped.notified()).await.unwrap();
    assert_eq!(client.call_text("demo_hello", json!({})).await, "hello");
}

#[tokio::test]
async fn a_client_that_closes_its_input_still_gets_pending_responses() {
    let (server, release) = (server(), Arc::new(Notify::new()));
    let released = release.clone();
    server
        .register_tool(tool_fn("demo.slow", "", move |_: JsonObject, _: CallContext| {
            let released = released.clone();
            async move {
                released.notified().await;
                "done"
            }
        }))
        .unwrap();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "demo_slow"}});
    client.send_line(&call.to_string()).await;
    client.close_input().await;
    release.notify_one();
    let response = client.response().await;
    assert_eq!((&response["id"], &response["result"]["content"][0]["text"]), (&json!(7), &json!("done")));
    assert_eq!(client.message().await, None, "then the server closes the session");
}

#[tokio::test]
async fn a_stateless_client_gets_its_notifications_and_does_not_keep_the_server_running() {
    let server = server();
    let mut client = RawClient::connect(&server);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    client.send_line(&listen.to_string()).await;
    let acknowledged = client.message().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    server.register_tool(hello("demo.late")).unwrap();
    assert_eq!(client.message().await.unwrap()["method"], "notifications/tools/list_changed");
    client.close_input().await;
    while let Some(message) = client.message().await {
        assert_ne!(message["method"], "notifications/tools/list_changed", "only one notification");
    }
}

#[tokio::test]
async fn arguments_of_a_prompt_are_completed() {
    let server = Server::builder().completions().build().unwrap();
    let prompt = prompt_fn("p", "", |(): (), _: CallContext| async { PromptMessage::user("") });
    let languages = ["python", "perl", "rust"];
    let prompt = prompt.completions(move |argument, typed| {
        let matching = languages.iter().filter(|it| argument == "language" && it.starts_with(typed));
        matching.map(ToString::to_string).collect()
    });
    server.register_prompt(prompt).unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(client.complete("p", "language", "p").await.unwrap(), ["python", "perl"]);
    assert!(client.complete("p", "other", "p").await.unwrap().is_empty());
    assert!(client.complete("nothing", "language", "p").await.is_err());
}

#[tokio::test]
async fn the_newest_revision_can_be_capped() {
    let server = Server::builder().newest_protocol("2025-06-18").build().unwrap();
    let response = RawClient::connect(&server).initialize().await;
    assert_eq!(response["result"]["protocolVersion"], "2025-06-18");
}
