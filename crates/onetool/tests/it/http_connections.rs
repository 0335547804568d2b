//! H10, LOW-1: connections of attackers and honest clients, over real sockets.

use std::io;
use std::time::Duration;

use onetool::http::{Access, ConnectionLimits, HttpOptions};
use onetool::{CallContext, JsonObject, Server, tool_fn};
use onetool_testkit::HttpServer;
use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::server;

const TOKEN: &str = "canary-token-0123456789";
const SHORT: Duration = Duration::from_millis(50);
/// How long to wait for an event that must happen eventually.
const TIMEOUT: Duration = Duration::from_secs(20);

async fn with_limits(server: &Server, connections: ConnectionLimits) -> HttpServer {
    let mut options = HttpOptions::new(Access::with_token(TOKEN));
    options.connections = connections;
    HttpServer::start(server, options).await
}

/// Opens a connection and writes the start of a request.
async fn connect(http: &HttpServer, beginning: &str) -> TcpStream {
    let url = http.url("");
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(beginning.as_bytes()).await.unwrap();
    stream
}

/// Sends a request and reads the response until the server closes the connection.
async fn exchange(http: &HttpServer, request: &str) -> String {
    let mut stream = connect(http, request).await;
    let mut response = Vec::new();
    // After a rejection the connection may be reset.
    let _ = stream.read_to_end(&mut response).await;
    String::from_utf8(response).unwrap()
}

/// Counts the connections that the server has not closed.
fn count_open(connections: &[TcpStream]) -> usize {
    let is_open = |stream: &&TcpStream| {
        loop {
            match stream.try_read(&mut [0; 1024]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    };
    connections.iter().filter(is_open).count()
}

async fn initialize(http: &HttpServer) -> StatusCode {
    http.post_initialize().bearer_auth(TOKEN).send().await.unwrap().status()
}

/// A session with an open stream of events.
struct Session {
    id: HeaderValue,
    events: reqwest::Response,
}

impl Session {
    async fn open(http: &HttpServer) -> Self {
        let opened = http.post_initialize().bearer_auth(TOKEN).send().await.unwrap();
        let id = opened.headers()["mcp-session-id"].clone();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let ready = http.post_mcp(ready).bearer_auth(TOKEN).header("mcp-session-id", id.clone());
        assert_eq!(ready.send().await.unwrap().status(), StatusCode::ACCEPTED);
        let events = http.get("/mcp").bearer_auth(TOKEN).header("mcp-session-id", id.clone());
        let events = events.header("accept", "text/event-stream").send().await.unwrap();
        Self { id, events }
    }

    /// Changes the list of tools, and waits for the notification on the stream.
    async fn expect_change(&mut self, server: &Server) {
        server.register_tool(tool_fn("demo.new", "", |_: JsonObject, _: CallContext| async { "" })).unwrap();
        let mut events = String::new();
        while !events.contains("notifications/tools/list_changed") {
            let piece = self.events.chunk().await.unwrap().expect("the stream stays open");
            events.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }
}

#[tokio::test]
async fn h10_a_thousand_half_open_connections_lock_no_one_out() {
    let server = server();
    let http = with_limits(&server, ConnectionLimits::default()).await;
    let mut session = Session::open(&http).await;
    let beginnings = [
        "",
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\nx",
        "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{",
    ];
    let mut flood = Vec::new();
    for index in 0..1000 {
        flood.push(connect(&http, beginnings[index % beginnings.len()]).await);
    }
    assert_eq!(initialize(&http).await, StatusCode::OK);
    session.expect_change(&server).await;
    let closed = async {
        while count_open(&flood) > ConnectionLimits::default().max_per_address {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, closed).await.expect("the server closes excess connections");
}

#[tokio::test]
async fn h10_a_head_has_to_arrive_in_time_however_it_trickles() {
    let mut limits = ConnectionLimits::default();
    limits.header_timeout = SHORT;
    let http = with_limits(&server(), limits).await;
    assert_eq!(exchange(&http, "").await, "", "nothing was sent");
    assert_eq!(exchange(&http, "GET /livez HTTP/1.1\r\nhost: local").await, "", "the head has no end");
    // A byte at a time, with each byte well within the timeout.
    let (mut read, mut write) = connect(&http, "GET /livez HTTP/1.1\r\nhost: ").await.into_split();
    let trickle = async {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SHORT / 10).await;
        }
    };
    let mut response = Vec::new();
    tokio::select! {
        () = trickle => {}
        _ = read.read_to_end(&mut response) => {}
    }
    // The same on a connection that has had a request: the pause may be long, but the next head must arrive in time.
    let mut stream = connect(&http, "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    stream.readable().await.unwrap();
    stream.write_all(b"GET /li").await.unwrap();
    let _ = stream.read_to_end(&mut response).await;
    assert!(String::from_utf8_lossy(&response).ends_with("ok\n"));
    assert_eq!(initialize(&http).await, StatusCode::OK);
}

#[tokio::test]
async fn h10_idle_connections_are_closed_and_streams_and_slow_calls_are_not() {
    let server = server();
    let (release, released) = watch::channel(false);
    let wait = move |_: JsonObject, _: CallContext| {
        let mut released = released.clone();
        async move {
            released.wait_for(|it| *it).await.unwrap();
            "done at last"
        }
    };
    server.register_tool(tool_fn("demo.wait", "", wait)).unwrap();
    let mut limits = ConnectionLimits::default();
    (limits.idle_timeout, limits.header_timeout) = (SHORT, SHORT);
    let http = with_limits(&server, limits).await;
    let mut session = Session::open(&http).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "demo_wait"}});
    let call =
        http.post_mcp(call.to_string()).bearer_auth(TOKEN).header("mcp-session-id", session.id.clone());
    let call = tokio::spawn(call.send());

    // After three connections in turn were closed as idle, the stream and the call have been idle for longer than that.
    for _ in 0..3 {
        let response = exchange(&http, "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert!(response.ends_with("ok\n"), "{response}");
    }
    session.expect_change(&server).await;
    release.send_replace(true);
    let response = HttpServer::message(call.await.unwrap().unwrap()).await;
    assert_eq!(response["result"]["content"][0]["text"], "done at last");
}

#[tokio::test]
async fn h10_a_body_has_to_arrive_in_time() {
    let mut limits = ConnectionLimits::default();
    limits.body_timeout = SHORT;
    let http = with_limits(&server(), limits).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 1000\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\r\n"
    );
    let response = exchange(&http, &format!("{head}{{")).await;
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.contains("the message did not arrive in time"), "{response}");
}

#[tokio::test]
async fn h10_a_client_that_does_not_read_loses_its_connection() {
    let server = server();
    let large = |_: JsonObject, _: CallContext| async { "x".repeat(32 << 20) };
    server.register_tool(tool_fn("demo.large", "", large)).unwrap();
    let mut limits = ConnectionLimits::default();
    (limits.max, limits.write_timeout) = (1, SHORT);
    let http = with_limits(&server, limits).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "demo_large",
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}}}})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: demo_large\r\n\r\n",
        call.len()
    );
    let mut stream = connect(&http, &(head + &call)).await;
    stream.readable().await.unwrap();
    // The only connection is in use until its write timeout.
    while !exchange(&http, "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .contains("ok\n")
    {}
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    assert!(response.starts_with(b"HTTP/1.1 200 "));
    assert!(response.len() < 32 << 20, "the response was cut off");
}

#[tokio::test]
async fn h10_a_new_connection_gets_an_error_when_all_are_in_use() {
    let server = server();
    let mut limits = ConnectionLimits::default();
    limits.max = 1;
    let http = with_limits(&server, limits).await;
    let authorized = format!("GET /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n");
    let mut holder = connect(&http, &authorized).await;
    holder.readable().await.unwrap();
    let request = "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let refused = exchange(&http, request).await;
    let (head, body) = refused.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{refused}");
    assert_eq!(body, "{\"error\":\"Too many connections. Retry later.\"}\n");
    holder.shutdown().await.unwrap();
    while !exchange(&http, request).await.ends_with("ok\n") {}
}

#[tokio::test]
async fn low_1_a_spoofed_host_or_origin_is_rejected_on_every_route() {
    let access = Access::with_token(TOKEN)
        .allow_hosts(["tools.example.org".into(), "bücher.example:8443".into()])
        .allow_origins(["https://app.example.org".into()]);
    let http = HttpServer::start(&server(), HttpOptions::new(access)).await;
    let request = async |path: &str, lines: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{lines}connection: close\r\n\r\n");
        let response = exchange(&http, &request).await;
        response.get(9..12).map(str::to_owned).unwrap_or(response)
    };
    let known = [
        "host: localhost\r\n",
        "host: LocalHost:80\r\n",
        "host: 127.0.0.1:7411\r\n",
        "host: [::1]:7411\r\n",
        "host: Tools.Example.org:443\r\n",
        "host: xn--bcher-kva.example:8443\r\n",
        "host: localhost\r\norigin: http://localhost:5173\r\n",
        "host: localhost\r\norigin: https://[::1]\r\n",
        "host: localhost\r\norigin: https://app.example.org\r\n",
        "host: localhost\r\norigin: https://app.example.org:443\r\n",
    ];
    for lines in known {
        assert_eq!(request("/livez", lines).await, "200", "{lines}");
        assert_eq!(request("/mcp", lines).await, "401", "{lines}");
    }
    let foreign = [
        "",
        "host:\r\n",
        "host: evil.org\r\n",
        "host: [::1].evil.org\r\n",
        "host: [::1]evil.org\r\n",
        "host: localhost.evil.org\r\n",
        "host: localhost.\r\n",
        "host: localhost@evil.org\r\n",
        "host: localhost:80@evil.org\r\n",
        "host: evil.org@localhost\r\n",
        "host: localhost:evil.org\r\n",
        "host: localhost/evil.org\r\n",
        "host: evil.org#localhost\r\n",
        "host: localhost evil.org\r\n",
        "host: localhost\tevil.org\r\n",
        "host: [fe80::1%25lo]\r\n",
        "host: [::1%25lo]\r\n",
        "host: 0.0.0.0\r\n",
        "host: tools.example.org.evil.org\r\n",
        "host: bücher.example:8443\r\n",
        "host: xn--bcher-kva.example:1\r\n",
        "host: localhost\r\nhost: evil.org\r\n",
        "host: evil.org\r\nhost: localhost\r\n",
        "host: localhost\r\norigin:\r\n",
        "host: localhost\r\norigin: null\r\n",
        "host: localhost\r\norigin: localhost\r\n",
        "host: localhost\r\norigin: http://evil.org\r\n",
        "host: localhost\r\norigin: http://[::1].evil.org\r\n",
        "host: localhost\r\norigin: http://localhost:80@evil.org\r\n",
        "host: localhost\r\norigin: http://localhost@evil.org\r\n",
        "host: localhost\r\norigin: http://evil.org#@localhost\r\n",
        "host: localhost\r\norigin: http://localhost.evil.org\r\n",
        "host: localhost\r\norigin: http://localhost.\r\n",
        "host: localhost\r\norigin: http:localhost\r\n",
        "host: localhost\r\norigin: http:///localhost\r\n",
        "host: localhost\r\norigin: http://evil.org\\@localhost\r\n",
        "host: localhost\r\norigin: file://localhost\r\n",
        "host: localhost\r\norigin: http://app.example.org\r\n",
        "host: localhost\r\norigin: https://app.example.org:444\r\n",
        "host: localhost\r\norigin: https://app.example.org, http://evil.org\r\n",
        "host: localhost\r\norigin: http://localhost\r\norigin: http://evil.org\r\n",
    ];
    for lines in foreign {
        for path in ["/livez", "/mcp", "/"] {
            let status = request(path, lines).await;
            assert!(status == "403" || status == "400", "{path} {lines}: {status}");
        }
    }
    // A host in the URL counts as well.
    assert_eq!(request("http://localhost/livez", "host: localhost\r\n").await, "200");
    assert_eq!(request("http://evil.org/livez", "host: localhost\r\n").await, "403");
    assert_eq!(request("http://localhost/livez", "host: evil.org\r\n").await, "403");
}
