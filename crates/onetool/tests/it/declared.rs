//! Tools, resources and prompts that the configuration declares.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::any;
use insta::assert_snapshot;
use onetool_testkit::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::gateway;

#[tokio::test]
async fn a_command_gets_its_arguments_unchanged() {
    let folder = TempDir::new().unwrap();
    let yaml = r#"
tools:
  - name: sh.args
    description: Shows its arguments.
    params: {a: {type: string}, b: {type: string, required: false}, n: {type: integer, default: 2}}
    command: [printf, "<%s>", "{{ a }}", "{{ b }}", "n={{ n }}"]
  - name: sh.json
    description: Prints JSON.
    command: [echo, '{"k": [1]}']
  - name: sh.fail
    description: Fails.
    command: [sh, -c, "echo oops >&2; exit 3"]
  - name: sh.read
    description: Reads.
    params: {text: {type: string}}
    stdin: "in: {{ text }}"
    command: [cat]
  - name: sh.slow
    description: Sleeps.
    timeout: 0.1
    command: [sleep, "30"]
  - name: sh.missing
    description: Not there.
    command: [no-such-program-here]
  - name: sh.env
    description: Shows its environment.
    env: {OWN: mine}
    command: [env]
"#;
    let gateway = gateway(folder.path(), yaml);
    let client = Client::connect(gateway.server()).await;
    let quoted = client.call_text("sh_args", json!({"a": "x; rm -rf $HOME `id` \"q\""})).await;
    assert_eq!(quoted, "<x; rm -rf $HOME `id` \"q\"><n=2>", "no shell, and missing arguments are omitted");
    assert_eq!(client.call_text("sh_args", json!({"a": "", "b": "-b", "n": 5})).await, "<><-b><n=5>");
    let data = client.call("sh_json", json!({})).await.unwrap();
    assert_eq!(data["structuredContent"], json!({"k": [1]}));
    assert_snapshot!(client.call_text("sh_fail", json!({})).await, @"error: 'sh' exited with code 3: oops");
    assert_eq!(client.call_text("sh_read", json!({"text": "é"})).await, "in: é");
    assert_snapshot!(client.call_text("sh_slow", json!({})).await, @"error: tool 'sh.slow' failed: 'sleep' did not finish within 0.1 s and was killed");
    assert_snapshot!(client.call_text("sh_missing", json!({})).await, @"error: tool 'sh.missing' failed: 'no-such-program-here' was not found in PATH; install it, or use its full path in `command`");
    let inherited = client.call_text("sh_env", json!({})).await;
    let names: Vec<&str> = inherited.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.iter().all(|name| ["PATH", "OWN", "PWD", "SHLVL", "_"].contains(name)), "{names:?}");
    assert!(inherited.contains("OWN=mine"));
}

/// A service on loopback that records its requests.
async fn service() -> (String, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let respond = move |request: Request| {
        let log = log.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 10_000).await.unwrap();
            let auth = parts.headers.get("authorization").map_or("", |it| it.to_str().unwrap()).to_owned();
            let seen = format!("{} {} [{auth}] {}", parts.method, parts.uri, String::from_utf8_lossy(&body));
            log.lock().await.push(seen);
            match parts.uri.path() {
                "/away" => Redirect::temporary("http://localhost:1/elsewhere").into_response(),
                "/home" => Redirect::temporary("/json").into_response(),
                "/missing" => (StatusCode::NOT_FOUND, format!("no such thing, {auth}")).into_response(),
                "/text" => "plain".into_response(),
                "/image" => ([("content-type", "image/png")], vec![1u8, 2, 255]).into_response(),
                _ => axum::Json(json!({"ok": true})).into_response(),
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(any(respond));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, seen)
}

#[tokio::test]
async fn an_http_tool_fills_in_its_request_and_reads_every_kind_of_response() {
    let (address, seen) = service().await;
    let folder = TempDir::new().unwrap();
    let yaml = format!(
        r#"
tools:
  - name: api.find
    description: Finds.
    params: {{id: {{type: string}}, q: {{type: string, required: false}}, n: {{type: integer, default: 3}}}}
    http: {{url: "{address}/items/{{{{ id }}}}", query: {{q: "{{{{ q }}}}", n: "{{{{ n }}}}"}}}}
  - name: api.make
    description: Makes.
    params: {{name: {{type: string}}, tags: {{type: array, items: {{type: string}}, required: false}}, n: {{type: integer}}}}
    http:
      method: post
      url: "{address}/items"
      json: {{name: "Hi {{{{ name }}}}", tags: "{{{{ tags }}}}", n: "{{{{ n }}}}", fixed: true}}
  - name: api.get
    description: Gets.
    params: {{path: {{type: string}}}}
    http: {{url: "{address}/{{{{ path }}}}"}}
"#
    );
    let gateway = gateway(folder.path(), &yaml);
    let client = Client::connect(gateway.server()).await;
    let found = client.call("api_find", json!({"id": "a/b?c", "q": "x&y"})).await.unwrap();
    assert_eq!(found["structuredContent"], json!({"ok": true}));
    client.call("api_find", json!({"id": "1"})).await.unwrap();
    client.call("api_make", json!({"name": "Ada \"q\"", "n": 7})).await.unwrap();
    client.call("api_make", json!({"name": "", "n": 7, "tags": ["a"]})).await.unwrap();
    let seen = seen.lock().await.join("\n");
    assert_snapshot!(seen, @r#"
    GET /items/a%2Fb%3Fc?q=x%26y&n=3 [] 
    GET /items/1?n=3 [] 
    POST /items [] {"name":"Hi Ada \"q\"","n":7,"fixed":true}
    POST /items [] {"name":"Hi ","tags":["a"],"n":7,"fixed":true}
    "#);
    assert_eq!(client.call_text("api_get", json!({"path": "text"})).await, "plain");
    assert_eq!(
        client.call_text("api_get", json!({"path": "home"})).await,
        r#"{"ok":true}"#,
        "a redirect to the same host is followed"
    );
    let image = client.call("api_get", json!({"path": "image"})).await.unwrap();
    assert_eq!(image["content"][0], json!({"type": "image", "data": "AQL/", "mimeType": "image/png"}));
    for climbing in ["..", "."] {
        let text = client.call_text("api_get", json!({"path": climbing})).await;
        assert!(text.contains("would change the path of the URL"), "{text}");
    }
    let away = client.call_text("api_get", json!({"path": "away"})).await;
    assert!(away.starts_with("error: HTTP 307"), "a redirect to another host is not followed: {away}");
}

#[tokio::test]
async fn l2_a_secret_appears_in_no_error_of_a_tool_that_uses_it() {
    let (address, seen) = service().await;
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secrets.yaml"), "KEY: canary-secret-4711\n").unwrap();
    let yaml = format!(
        r#"
tools:
  - name: api.missing
    description: Not there.
    http: {{url: "{address}/missing", headers: {{Authorization: "Bearer ${{KEY}}"}}}}
  - name: api.down
    description: Not reachable.
    http: {{url: "http://127.0.0.1:1/?key=${{KEY}}"}}
  - name: sh.leak
    description: Complains with its environment.
    env: {{KEY: "${{KEY}}"}}
    command: [sh, -c, "echo failed with $KEY >&2; exit 1"]
"#
    );
    let gateway = gateway(folder.path(), &yaml);
    let client = Client::connect(gateway.server()).await;
    let mut errors = String::new();
    for tool in ["api_missing", "api_down", "sh_leak"] {
        let text = client.call_text(tool, json!({})).await;
        assert!(text.starts_with("error: "), "{text}");
        errors.push_str(&text);
    }
    assert!(seen.lock().await[0].contains("Bearer canary-secret-4711"), "the service itself receives it");
    assert!(!errors.contains("canary"), "{errors}");
    assert!(errors.contains("[redacted]"), "{errors}");
    assert!(!format!("{:?}", gateway.config()).contains("canary"));
}

#[tokio::test]
async fn resources_and_prompts_come_from_the_configuration() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("logo.png"), [1, 2, 255]).unwrap();
    let yaml = r#"
resources:
  - {uri: "docs://text", name: text, mime_type: text/markdown, text: "Hi"}
  - {uri: "docs://logo", name: logo, mime_type: image/png, file: logo.png}
  - {uri: "docs://gone", name: gone, file: gone.txt}
prompts:
  - name: review
    arguments: [{name: file, required: true}, {name: tone}]
    messages:
      - {role: user, text: "Review {{ file }}{% if tone %} in a {{ tone }} tone{% endif %}."}
      - {role: assistant, text: "Sure."}
"#;
    let client = Client::connect(gateway(folder.path(), yaml).server()).await;
    assert_eq!(client.read("docs://text").await.unwrap()["text"], "Hi");
    assert_eq!(client.read("docs://logo").await.unwrap()["blob"], "AQL/");
    let error = client.read("docs://gone").await.unwrap_err().message;
    assert!(
        error.starts_with("resource 'docs://gone' failed: cannot read '") && error.contains("gone.txt"),
        "{error}"
    );
    let got = client.prompt("review", json!({"file": "{{ tone }} a.rs"})).await.unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "Review {{ tone }} a.rs.", "values are not templates");
    assert_eq!(got["messages"][1]["role"], "assistant");
    let got = client.prompt("review", json!({"file": "a", "tone": "kind"})).await.unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "Review a in a kind tone.");
}

#[tokio::test]
async fn the_policy_applies_on_every_path() {
    let folder = TempDir::new().unwrap();
    let yaml = r#"
policy: {allow: ["demo.*"], deny: ["demo.delete_*"]}
tools:
  - {name: demo.read, description: d, command: [echo, ok]}
  - {name: demo.delete_all, description: d, command: [echo, gone]}
  - {name: other.tool, description: d, command: [echo, other]}
"#;
    let gateway = gateway(folder.path(), yaml);
    let client = Client::connect(gateway.server()).await;
    assert_eq!(client.tool_names().await, ["demo_read"]);
    assert_eq!(client.call_text("demo_read", json!({})).await, "ok");
    assert_snapshot!(client.call_text("demo_delete_all", json!({})).await, @"error: tool 'demo.delete_all' is not allowed by this server's policy");
    assert!(client.read("onetool://tool/demo.delete_all").await.is_err(), "a denied tool is not described");
    assert_snapshot!(client.call_text("other_tool", json!({})).await, @"error: tool 'other.tool' is not allowed by this server's policy");
}
