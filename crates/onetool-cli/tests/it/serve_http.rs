//! `onetool serve --http`: the token, and the way up and down.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{ECHO, Sandbox};

/// The running server, and what it said at its start.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    url: String,
    pub(crate) said: String,
}

impl Running {
    fn start(sandbox: &Sandbox) -> Self {
        Self::start_command(sandbox.command(&["serve", "--http", "127.0.0.1:0"]))
    }

    /// Starts a command that serves over HTTP.
    pub(crate) fn start_command(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        // The address of the page is the last that it says before it serves.
        while !said.contains("\npage: ") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "the server ended: {said}");
        }
        let url = said.lines().find_map(|line| line.strip_prefix("MCP: ")).unwrap().trim().to_owned();
        Self { child, stderr, url, said }
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

    /// Ends the server with SIGTERM; returns its exit code and all that it said.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
        std::io::Read::read_to_string(&mut self.stderr, &mut self.said).unwrap();
        (self.child.wait().unwrap().code(), self.said)
    }
}

#[tokio::test]
async fn a1_a_token_is_made_printed_once_and_kept_private() {
    let sandbox = Sandbox::with_config(ECHO);
    let file = sandbox.path().join(".onetool/token");
    let first = Running::start(&sandbox);
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(token.len() >= 43, "256 bits");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(first.said.contains(&format!("token: {token} (kept in ")), "{}", first.said);
    let address = first.said.lines().find_map(|line| line.strip_prefix("page: ")).expect("the page is named");
    let (page, fragment) = address.split_once('#').expect("the token stands where no browser sends it");
    assert_eq!(fragment, format!("token={token}"));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    assert_eq!(client.get(page).send().await.unwrap().status(), StatusCode::OK, "{page}");
    assert_eq!(first.initialize(None).await, StatusCode::UNAUTHORIZED);
    assert_eq!(first.initialize(Some("wrong")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(first.initialize(Some(&token)).await, StatusCode::OK);
    assert_eq!(first.stop().0, Some(0));

    let second = Running::start(&sandbox);
    assert_eq!(second.initialize(Some(&token)).await, StatusCode::OK, "the token stays the same");
    let (code, said) = second.stop();
    assert_eq!(code, Some(0));
    assert!(!said.contains(&token), "printed once only: {said}");
    assert!(said.contains("/ui/ (it asks for the token)"), "{said}");
}

#[tokio::test]
async fn a1_doing_without_a_token_is_explicit_and_logged() {
    let sandbox = Sandbox::with_config("http: {token: none}");
    let running = Running::start(&sandbox);
    assert_eq!(running.initialize(None).await, StatusCode::OK);
    let (_, said) = running.stop();
    assert!(said.contains("can use every tool"), "{said}");
    assert!(!sandbox.path().join(".onetool/token").exists());
}

#[tokio::test]
async fn l4_a_token_that_others_could_read_is_closed() {
    let sandbox = Sandbox::with_config(ECHO);
    let file = sandbox.path().join(".onetool/token");
    std::fs::write(&file, "my-own-token-of-some-length\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let running = Running::start(&sandbox);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(running.initialize(Some("my-own-token-of-some-length")).await, StatusCode::OK);
    running.stop();
}

#[tokio::test]
async fn a_taken_port_is_named_with_a_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let sandbox = Sandbox::with_config("http: {token: none}");
    let (_, stderr, code) = sandbox.run(&["serve", "--http", &address]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains(&format!("error: cannot listen on {address}: Address already in use")),
        "{stderr}"
    );
    assert!(stderr.contains("hint: `onetool serve --http 127.0.0.1:0` takes any free port"), "{stderr}");
    assert_eq!(sandbox.run(&["serve", "--http", "nonsense"]).2, 2);
}

#[tokio::test]
async fn d4_sighup_changes_token_and_hosts_of_a_running_server() {
    let sandbox = Sandbox::with_config("http: {token: first-token}\n");
    let mut running = Running::start(&sandbox);
    assert_eq!(running.initialize(Some("first-token")).await, StatusCode::OK);
    sandbox.write_config("http: {token: second-token, listen: '127.0.0.1:9'}\n");
    let id = i32::try_from(running.child.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::HUP).unwrap();
    while !running.said.contains("configuration reloaded") {
        assert!(running.stderr.read_line(&mut running.said).unwrap() > 0, "{}", running.said);
    }
    assert!(running.said.contains("on_restart=[\"http.listen\"]"), "{}", running.said);
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
    let running = Running::start_command(limited);
    let address = running.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let flood: Vec<_> = (0..1000).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    let answer = running.initialize(Some("my-own-token-of-some-length"));
    let answer = tokio::time::timeout(std::time::Duration::from_secs(20), answer).await;
    assert_eq!(answer.expect("an honest client is answered"), StatusCode::OK);
    drop(flood);
    let (code, said) = running.stop();
    assert_eq!(code, Some(0), "{said}");
}

#[tokio::test]
async fn r7_a_server_whose_stderr_is_closed_still_serves_and_stops() {
    let sandbox = Sandbox::with_config("http: {token: my-own-token-of-some-length}");
    let mut running = Running::start(&sandbox);
    let mut nothing = Command::new("true").stderr(Stdio::piped()).spawn().unwrap();
    nothing.wait().unwrap();
    drop(std::mem::replace(&mut running.stderr, BufReader::new(nothing.stderr.take().unwrap())));
    // Each request logs something, or tries to.
    for _ in 0..3 {
        assert_eq!(running.initialize(Some("my-own-token-of-some-length")).await, StatusCode::OK);
    }
    let stopped = tokio::task::spawn_blocking(move || running.stop().0);
    let stopped = tokio::time::timeout(std::time::Duration::from_secs(20), stopped).await;
    assert_eq!(stopped.expect("it stops").unwrap(), Some(0));
}
