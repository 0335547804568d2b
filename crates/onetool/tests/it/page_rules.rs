//! Access control and response format of plain HTTP: A2, A3, A6, L2, O7, WEB.

use onetool::{CallContext, JsonObject, tool_fn};
use onetool_testkit::scripted_upstream;
use serde_json::{Value, json};

use crate::page::{EXECUTE, Fixture, TOKEN, fetch};

const READS: [&str; 11] = [
    "GET overview",
    "GET tools",
    "GET tools/demo.shout",
    "GET search?q=capitals",
    "GET packs",
    "GET servers",
    "GET stats?period=day",
    "GET results",
    "GET shortcuts",
    "GET history",
    "GET /tools",
];

#[tokio::test]
async fn a3_everything_except_the_files_of_the_page_needs_the_token() {
    let mut fixture = Fixture::start(EXECUTE).await;
    let others = [
        "PUT active",
        "POST run",
        "POST expand",
        "POST servers/x/reconnect",
        "PUT servers/x/enabled",
        "GET servers/x/log",
        "PUT history",
        "DELETE history",
        "PUT history/1/pinned",
        "GET history/1",
        "GET results/x",
        "GET events",
        "GET /tools/demo.shout",
        "POST /tools/demo.shout/validate",
        "POST /tools/demo.shout/call",
        "GET /ui/tools",
        "GET /ui/api/v1/tools",
        "GET /nothing/here",
    ];
    for line in READS.into_iter().chain(others) {
        let body = json!({"command": "demo.shout(text='x')", "text": "x"});
        let body = if line.starts_with("GET") { Value::Null } else { body };
        let refused = fetch(fixture.request(line, &body)).await;
        assert_eq!(refused, (401, json!({"error": "Unauthorized"})), "{line}");
    }
    for open in ["/", "/ui", "/ui/", "/assets/main.js", "/ui/assets/app.css"] {
        let response = fixture.http.get(open).send().await.unwrap();
        assert_eq!(response.status(), 200, "{open}");
        let text = response.text().await.unwrap();
        assert!(!text.contains(TOKEN) && !text.contains("demo.shout"), "{open} contains data");
    }
    for line in READS {
        assert_eq!(fixture.get(line).await.0, 200, "{line}");
    }
    assert!(fixture.shouted.try_recv().is_err(), "nothing was called");
}

/// MCP, metrics, the tools, the API and the page have one access layer, so they reject a request in the same words.
#[tokio::test]
async fn str_4_every_route_rejects_a_request_in_the_same_words() {
    let fixture = Fixture::start(EXECUTE).await;
    let routes =
        ["/mcp", "/mcp/work", "/metrics", "/tools", "/api/v1/overview", "/ui/api/v1/overview", "/none"];
    for route in routes {
        let response = fixture.http.get(route).send().await.unwrap();
        let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
        assert_eq!((response.status().as_u16(), challenge.as_str()), (401, "Bearer"), "{route}");
        assert_eq!(response.json::<Value>().await.unwrap(), json!({"error": "Unauthorized"}), "{route}");
        let foreign = fixture.http.get(route).header("origin", "https://evil.example");
        let response = foreign.send().await.unwrap();
        assert_eq!(response.status(), 403, "{route}");
        let reason = json!({"error": "Origin not allowed. Add it to http.allowed_origins."});
        assert_eq!(response.json::<Value>().await.unwrap(), reason, "{route}");
    }
}

#[tokio::test]
async fn a2_a_foreign_host_or_origin_is_rejected_on_the_page_and_its_api() {
    let fixture = Fixture::start(EXECUTE).await;
    for path in ["/", "/ui/", "/assets/main.js", "/tools", "/api/v1/tools", "/api/v1/events", "/ui/tools"] {
        for (name, value) in
            [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")]
        {
            let request = fixture.http.get(path).bearer_auth(TOKEN).header(name, value);
            assert_eq!(request.send().await.unwrap().status(), 403, "{path} {name}: {value}");
        }
        let doubled = fixture.http.get(path).header("origin", "http://localhost").header("origin", "null");
        assert_eq!(doubled.send().await.unwrap().status(), 403, "{path}");
    }
}

#[tokio::test]
async fn a6_the_order_of_the_checks_is_origin_access_permission_existence_body() {
    let mut fixture = Fixture::start(EXECUTE).await;
    let off = Fixture::start("").await;
    let call = |fixture: &Fixture, name: &str, body: &str| {
        fixture.http.request("POST", &format!("/tools/{name}/call")).body(body.to_owned())
    };
    let foreign = call(&off, "nope", "[").header("origin", "https://evil.example");
    assert_eq!(fetch(foreign).await.0, 403);
    assert_eq!(fetch(call(&off, "nope", "[")).await.0, 401);
    let forbidden = fetch(call(&off, "nope", "[").bearer_auth(TOKEN)).await;
    assert_eq!(forbidden, (403, json!({"error": "Tool execution is disabled."})));
    assert_eq!(fetch(call(&fixture, "nope", "[").bearer_auth(TOKEN)).await.0, 404);
    for body in ["[", "[]", "5", "null", "\"text\""] {
        assert_eq!(fetch(call(&fixture, "demo.shout", body).bearer_auth(TOKEN)).await.0, 400, "{body}");
    }
    let large = format!("{{\"text\": \"{}\"}}", "x".repeat(20_000));
    assert_eq!(fetch(call(&fixture, "demo.shout", &large).bearer_auth(TOKEN)).await.0, 413);
    let (status, refused) = fetch(call(&fixture, "demo.shout", "").bearer_auth(TOKEN)).await;
    assert_eq!(
        (status, &refused["errors"][0]["keyword"]),
        (400, &json!("required")),
        "no body is an empty object"
    );
    assert!(fixture.shouted.try_recv().is_err(), "no call reached the tool");
    let (status, output) = fixture.send("POST /tools/demo.shout/call", &json!({"text": "hello"})).await;
    assert_eq!((status, &output["content"][0]["text"]), (200, &json!("HELLO")));
    assert_eq!(fixture.shouted.recv().await.unwrap(), "hello");
}

#[tokio::test]
async fn web_1_1_the_whole_catalog_is_listed_and_follows_every_change() {
    let yaml = "docs: {tools: {demo.shout: {description: Capitals only.}}}\npolicy: {deny: [demo.lines]}\n";
    let fixture = Fixture::start(yaml).await;
    let names = |(_, list): (u16, Value)| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let (_, list) = fixture.get("GET /tools").await;
    let shout = list.as_array().unwrap().iter().find(|it| it["name"] == "demo.shout").unwrap();
    assert_eq!(
        *shout,
        json!({"name": "demo.shout", "description": "Capitals only."}),
        "web_1_2: no other key"
    );
    let before = names((200, list));
    assert!(before.contains(&"ot.help".to_owned()) && !before.contains(&"run".to_owned()), "{before:?}");
    assert!(!before.contains(&"demo.lines".to_owned()), "the policy applies here, too: {before:?}");
    let late = |_: JsonObject, _: CallContext| async { "late" };
    fixture.gateway.server().register_tool(tool_fn("demo.late", "Registered later.", late)).unwrap();
    assert!(names(fixture.get("GET /tools").await).contains(&"demo.late".to_owned()));
}

#[tokio::test]
async fn web_1_2_annotations_contain_only_set_hints() {
    let fixture = Fixture::start("").await;
    let (_, list) = fixture.get("GET /tools").await;
    let help = list.as_array().unwrap().iter().find(|it| it["name"] == "ot.help").unwrap();
    assert_eq!(help["annotations"], json!({"readOnlyHint": true}));
}

#[tokio::test]
async fn web_2_1_a_tool_is_described_under_both_of_its_names() {
    let fixture = Fixture::start("").await;
    for name in ["demo.shout", "demo_shout"] {
        let (status, tool) = fixture.get(&format!("GET /tools/{name}")).await;
        assert_eq!((status, &tool["name"]), (200, &json!("demo.shout")), "{name}");
        assert_eq!(tool["inputSchema"]["required"], json!(["text"]), "{name}");
    }
}

#[tokio::test]
async fn web_2_2_an_unknown_tool_is_an_error_in_json() {
    let fixture = Fixture::start("").await;
    assert_eq!(fixture.get("GET /tools/nope").await, (404, json!({"error": "Tool not found: nope"})));
}

#[tokio::test]
async fn web_4_1_the_page_is_rendered_with_title_and_permission() {
    let fixture = Fixture::start("http: {title: My <tools>, allow_execute: true}\n").await;
    let page = fixture.http.get("/ui/").send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    let page = page.text().await.unwrap();
    assert!(page.contains("<title>My &lt;tools&gt;</title>"), "{page}");
    assert!(page.contains(r#""allowExecute":true"#) && page.contains(r#""gateway":true"#), "{page}");
}

#[tokio::test]
async fn web_4_2_with_execution_off_neither_calls_nor_code_run() {
    let mut fixture = Fixture::start("").await;
    let refused = (403, json!({"error": "Tool execution is disabled."}));
    assert_eq!(fixture.send("POST /tools/demo.shout/call", &json!({"text": "x"})).await, refused);
    assert_eq!(fixture.send("POST run", &json!({"command": "demo.shout(text='x')"})).await, refused);
    let valid = fixture.send("POST /tools/demo.shout/validate", &json!({"text": "x"})).await;
    assert_eq!(valid, (200, json!({"valid": true})));
    assert!(fixture.shouted.try_recv().is_err());
}

#[tokio::test]
async fn web_5_1_our_fields_are_never_null() {
    fn assert_no_null(value: &Value, place: &str) {
        match value {
            Value::Null => panic!("null at {place}"),
            Value::Array(items) => items.iter().for_each(|it| assert_no_null(it, place)),
            // Schemas come from tools and may contain null.
            Value::Object(object) => object
                .iter()
                .filter(|(key, _)| !key.ends_with("chema"))
                .for_each(|(key, it)| assert_no_null(it, &format!("{place}/{key}"))),
            _ => {}
        }
    }
    let yaml = "http: {allow_execute: true}\nsnippets: {hi: {params: {name: {}}, body: \"'{{ name }}'\"}}\n\
                aliases: {s: demo.shout}\nservers: {gone: {command: /no/such/program}}\n";
    let fixture = Fixture::start(yaml).await;
    fixture.gateway.connected().await;
    fixture.send("POST run", &json!({"command": "demo.lines()"})).await;
    let (_, history) = fixture.get("GET history").await;
    let (_, results) = fixture.get("GET results").await;
    let more = [
        format!("GET history/{}", history[0]["id"].as_str().unwrap()),
        format!("GET results/{}?search=line", results[0]["handle"].as_str().unwrap()),
    ];
    for line in READS.into_iter().map(str::to_owned).chain(more) {
        let (status, body) = fixture.get(&line).await;
        assert_eq!(status, 200, "{line}: {body}");
        assert_no_null(&body, &line);
    }
}

#[tokio::test]
async fn l2_a_secret_in_the_configuration_is_nowhere_in_the_api() {
    const CANARY: &str = "canary-4711-secret";
    let yaml = format!(
        "http: {{allow_execute: true}}\ntools:\n  - name: demo.ask\n    description: Ask.\n    \
         http: {{url: 'http://127.0.0.1:9/', headers: {{Authorization: 'Bearer {CANARY}'}}}}\n\
         servers:\n  left: {{command: {}, args: [server], env: {{KEY: {CANARY}}}}}\n",
        scripted_upstream().display()
    );
    let fixture = Fixture::start(&yaml).await;
    fixture.gateway.connected().await;
    fixture.send("POST /tools/demo.ask/call", &json!({})).await;
    let (_, history) = fixture.get("GET history").await;
    let more = [
        format!("GET history/{}", history[0]["id"].as_str().unwrap()),
        "GET tools/demo.ask".to_owned(),
        "GET servers/left/log".to_owned(),
    ];
    for line in READS.into_iter().map(str::to_owned).chain(more) {
        let (_, body) = fixture.get(&line).await;
        assert!(!body.to_string().contains(CANARY), "{line}: {body}");
        assert!(!body.to_string().contains(TOKEN), "{line}: {body}");
    }
    fixture.gateway.close().await;
}

#[tokio::test]
async fn o7_every_response_has_the_strict_policy() {
    let fixture = Fixture::start("").await;
    for path in ["/", "/ui/", "/assets/main.js", "/tools", "/api/v1/overview"] {
        let response = fixture.http.get(path).bearer_auth(TOKEN).send().await.unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(policy.contains("require-trusted-types-for 'script'"), "{path}: {policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff", "{path}");
    }
}
