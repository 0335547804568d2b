//! `onetool serve --http`: the token, startup and shutdown.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;

use crate::{ECHO, Sandbox, WAIT_LIMIT, send_signal};

/// A running server, and what it has printed so far.
pub(crate) struct RunningServer {
    child: Child,
    stderr: BufReader<ChildStderr>,
    url: String,
    pub(crate) output: String,
}

impl RunningServer {
    fn start(sandbox: &Sandbox) -> Self {
        Self::start_command(sandbox.command(&["serve", "--http", "127.0.0.1:0"]))
    }

    /// Starts a command that serves over HTTP.
    pub(crate) fn start_command(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut output = String::new();
        // The server prints the URL of the page last, right before it accepts connections.
        while !output.contains("\npage: ") {
            assert!(stderr.read_line(&mut output).unwrap() > 0, "the server exited: {output}");
        }
        let url = output.lines().find_map(|line| line.strip_prefix("MCP: ")).unwrap().trim().to_owned();
        Self { child, stderr, url, output }
    }

    pub(crate) async fn initialize(&self, token: Option<&str>) -> StatusCode {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request =
            client.post(&self.url).header("accept", "application/json, text/event-stream").json(&body);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().status()
    }

    /// Stops the server with SIGTERM; returns its exit code and everything it printed.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        send_signal(self.child.id(), Signal::TERM);
        std::io::Read::read_to_string(&mut self.stderr, &mut self.output).unwrap();
        (self.child.wait().unwrap().code(), self.output)
    }
}

#[tokio::test]
async fn a1_a_token_is_made_printed_once_and_kept_private() {
    let sandbox = Sandbox::with_config(ECHO);
    let file = sandbox.path().join(".onetool/token");
    let first = RunningServer::start(&sandbox);
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(token.len() >= 43, "256 bits");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(first.output.contains(&format!("token: {token} (saved in ")), "{}", first.output);
    let address = first
        .output
        .lines()
        .find_map(|line| line.strip_prefix("page: "))
        .expect("the URL of the page is printed");
    let (page, fragment) =
        address.split_once('#').expect("the token is in the fragment, which browsers do not send");
    assert_eq!(fragment, format!("token={token}"));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    assert_eq!(client.get(page).send().await.unwrap().status(), StatusCode::OK, "{page}");
    assert_eq!(first.initialize(None).await, StatusCode::UNAUTHORIZED);
    assert_eq!(first.initialize(Some("wrong")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(first.initialize(Some(&token)).await, StatusCode::OK);
    assert_eq!(first.stop().0, Some(0));

    let second = RunningServer::start(&sandbox);
    assert_eq!(second.initialize(Some(&token)).await, StatusCode::OK, "the token stays the same");
    let (code, output) = second.stop();
    assert_eq!(code, Some(0));
    assert!(!output.contains(&token), "printed only once: {output}");
    assert!(output.contains("/ui/ (asks for the token)"), "{output}");
}

#[tokio::test]
async fn a1_doing_without_a_token_is_explicit_and_logged() {
    let sandbox = Sandbox::with_config("http: {token: none}");
    let running = RunningServer::start(&sandbox);
    assert_eq!(running.initialize(None).await, StatusCode::OK);
    let (_, output) = running.stop();
    assert!(output.contains("can use every tool"), "{output}");
    assert!(!sandbox.path().join(".onetool/token").exists());
}

#[tokio::test]
async fn l4_a_token_that_others_could_read_is_closed() {
    let sandbox = Sandbox::with_config(ECHO);
    let file = sandbox.path().join(".onetool/token");
    std::fs::write(&file, "my-own-token-of-some-length\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let running = RunningServer::start(&sandbox);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(running.initialize(Some("my-own-token-of-some-length")).await, StatusCode::OK);
    running.stop();
}

#[tokio::test]
async fn a_port_in_use_is_reported_with_a_hint() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let sandbox = Sandbox::with_config("http: {token: none}");
    let (_, stderr, code) = sandbox.run(&["serve", "--http", &address]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains(&format!("error: cannot listen on {address}: Address already in use")),
        "{stderr}"
    );
    assert!(stderr.contains("hint: `onetool serve --http 127.0.0.1:0` uses any free port"), "{stderr}");
    assert_eq!(sandbox.run(&["serve", "--http", "nonsense"]).2, 2);
}

#[tokio::test]
async fn d4_sighup_changes_token_and_hosts_of_a_running_server() {
    let sandbox = Sandbox::with_config("http: {token: first-token}\n");
    let mut running = RunningServer::start(&sandbox);
    assert_eq!(running.initialize(Some("first-token")).await, StatusCode::OK);
    sandbox.write_config("http: {token: second-token, listen: '127.0.0.1:9'}\n");
    send_signal(running.child.id(), Signal::HUP);
    while !running.output.contains("configuration reloaded") {
        assert!(running.stderr.read_line(&mut running.output).unwrap() > 0, "{}", running.output);
    }
    assert!(running.output.contains("on_restart=[\"http.listen\"]"), "{}", running.output);
    assert_eq!(running.initialize(Some("first-token")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(running.initialize(Some("second-token")).await, StatusCode::OK);
    running.stop();
}

#[tokio::test]
async fn h10_a_flood_of_connections_cannot_use_up_the_files_that_may_be_open() {
    let sandbox = Sandbox::with_config("http: {token: my-own-token-of-some-length}");
    let serve = sandbox.command(&["serve", "--http", "127.0.0.1:0"]);
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]).arg(serve.get_program()).args(serve.get_args());
    limited.current_dir(sandbox.path()).env_clear();
    limited.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let running = RunningServer::start_command(limited);
    let address = running.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let flood: Vec<_> = (0..1000).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    let initialized = running.initialize(Some("my-own-token-of-some-length"));
    let initialized = tokio::time::timeout(WAIT_LIMIT, initialized).await;
    assert_eq!(initialized.expect("a client with the token gets a response"), StatusCode::OK);
    drop(flood);
    let (code, output) = running.stop();
    assert_eq!(code, Some(0), "{output}");
}

#[tokio::test]
async fn r7_a_server_whose_stderr_is_closed_still_serves_and_stops() {
    let sandbox = Sandbox::with_config("http: {token: my-own-token-of-some-length}");
    let mut running = RunningServer::start(&sandbox);
    // Closes our end of the server's stderr by putting the empty stderr of another process in its place.
    let mut other = Command::new("true").stderr(Stdio::piped()).spawn().unwrap();
    other.wait().unwrap();
    drop(std::mem::replace(&mut running.stderr, BufReader::new(other.stderr.take().unwrap())));
    // Each request tries to log something.
    for _ in 0..3 {
        assert_eq!(running.initialize(Some("my-own-token-of-some-length")).await, StatusCode::OK);
    }
    let stopped = tokio::task::spawn_blocking(move || running.stop().0);
    let stopped = tokio::time::timeout(WAIT_LIMIT, stopped).await;
    assert_eq!(stopped.expect("it stops").unwrap(), Some(0));
}
