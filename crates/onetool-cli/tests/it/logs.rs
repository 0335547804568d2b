//! D7 and L4: what the binary logs, and what it never logs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::Sandbox;

const CANARY: &str = "canary-4711";

const TOOLS: &str = r#"
tools:
  - {name: demo.echo, description: d, command: [echo, "{{ text }}"], params: {text: {type: string}, n: {type: integer, default: 1}}}
  - {name: demo.fail, description: d, command: [sh, -c, "exit 3", "{{ text }}"], params: {text: {type: string}}}
  - {name: demo.slow, description: d, command: [sleep, "60"], params: {text: {type: string}}, timeout: 0.05}
  - {name: demo.python, description: d, python: "text * 2", params: {text: {type: string}}}
resources: [{uri: "demo://text", name: text, text: canary-4711}]
prompts: [{name: ask, arguments: [{name: text}], template: "{{ text }}"}]
servers: {noisy: {command: sh, args: [-c, "echo canary-4711 >&2; echo canary-4711; sleep 60"]}}
startup_wait: 0
packs: {file: {roots: [..]}}
output: {max_inline_size: 200}
"#;

/// Serves over stdin and stdout, sends requests, and returns the responses and the log.
fn serve(sandbox: &Sandbox, variables: &[(&str, &str)], requests: &[(&str, Value)]) -> (Vec<Value>, String) {
    serve_until_logged("", sandbox, variables, requests)
}

/// Does the same, and keeps the session open until the log contains `text`.
fn serve_until_logged(
    text: &str,
    sandbox: &Sandbox,
    variables: &[(&str, &str)],
    requests: &[(&str, Value)],
) -> (Vec<Value>, String) {
    let mut command = sandbox.command(&["serve"]);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let first = [("initialize", client)];
    for (id, (method, params)) in first.iter().chain(requests).enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
    }
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains(text) {
        assert!(stderr.read_line(&mut log).unwrap() > 0, "the server exited: {log}");
    }
    drop(input);
    // Reads both streams concurrently, so that neither pipe fills up.
    let rest = std::thread::spawn(move || std::io::read_to_string(stderr).unwrap());
    let Output { stdout, .. } = child.wait_with_output().unwrap();
    log.push_str(&rest.join().unwrap());
    let lines = String::from_utf8(stdout).unwrap();
    let responses = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut responses: Vec<Value> = responses.filter(|it| it.get("id").is_some()).collect();
    responses.sort_by_key(|it| it["id"].as_u64());
    (responses, log)
}

fn call(name: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

fn run(code: &str) -> (&'static str, Value) {
    call("run", json!({"command": code}))
}

/// Requests with the canary in their arguments or results. Error messages of handlers are logged, so no handler here
/// repeats its arguments in one.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        call("demo_echo", json!({"text": CANARY})),
        call("demo_echo", json!({"text": [CANARY]})),
        call("demo_echo", json!({"text": CANARY, "n": CANARY})),
        call("demo_fail", json!({"text": CANARY})),
        call("demo_slow", json!({"text": CANARY})),
        call("demo_python", json!({"text": CANARY})),
        call("tool_find", json!({"query": CANARY})),
        run(&format!("'{CANARY}'")),
        run(&format!("raise ValueError('{CANARY}')")),
        run(&format!("print('{CANARY}' * 100)")),
        run(&format!("demo.echo(text='{CANARY}')")),
        run(&format!("demo.echo(text='{CANARY}', n='{CANARY}')")),
        run(&format!("demo.echo('{CANARY}', '{CANARY}', '{CANARY}')")),
        run(&format!("ot.help(query='{CANARY}')")),
        run(&format!("ot.notify(topic='{CANARY}', message='{CANARY}')")),
        run(&format!("ot.stats(output='../{CANARY}')")),
        run(&format!("file.write(path='notes.txt', content='{CANARY}')")),
        run(&format!("$no_such_snippet x={CANARY}")),
        ("resources/read", json!({"uri": "demo://text"})),
        ("prompts/get", json!({"name": "ask", "arguments": {"text": CANARY}})),
    ]
}

#[test]
fn l4_no_level_of_ours_logs_a_value_and_the_sdk_has_to_be_named() {
    let sandbox = Sandbox::with_config(TOOLS);
    for level in ["trace", "debug", "onetool=trace,onetool_proxy=trace,onetool_sandbox=trace", "info"] {
        let (responses, log) = serve(&sandbox, &[("ONETOOL_LOG", level)], &requests());
        assert_eq!(responses.len(), requests().len() + 1, "{log}");
        assert!(responses[1].to_string().contains(CANARY), "the value arrives: {}", responses[1]);
        assert!(responses[2].to_string().contains(CANARY), "the caller sees it: {}", responses[2]);
        assert!(log.contains("tool call outcome=\"ok\""), "{log}");
        let line = log.lines().find(|line| line.contains(CANARY));
        assert_eq!(line, None, "{level}");
    }
    let (_, log) = serve(&sandbox, &[("ONETOOL_LOG", "rmcp=trace")], &requests()[..1]);
    assert!(log.contains(CANARY), "the SDK logs it if the filter names the SDK: {log}");
    serve_until_logged("stderr: canary-4711", &sandbox, &[("ONETOOL_LOG", "upstream=debug")], &[run("1")]);
}

#[test]
fn d7_spans_of_the_ot_pack_are_in_the_log_at_debug() {
    let sandbox = Sandbox::with_config("output: {max_inline_size: 100}\n");
    let (responses, _) = serve(&sandbox, &[], &[run("'a line\\n' * 50")]);
    let stored: Value =
        serde_json::from_str(responses[1]["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let handle = stored["handle"].as_str().unwrap();
    let requests = [
        run("ot.version()"),
        run(&format!("ot.result(handle='{handle}', offset=2, limit=3, search='line')")),
        run(&format!("ot.result(handle='{handle}')")),
    ];
    let (_, log) = serve(&sandbox, &[("ONETOOL_LOG", "debug")], &requests);
    let closed = |span: &str| log.lines().any(|line| line.contains(span) && line.contains("close"));
    assert!(closed("ot.version"), "{log}");
    assert!(closed(&format!("ot.result{{handle={handle} offset=2 limit=3 search=\"line\"}}")), "{log}");
    assert!(closed(&format!("ot.result{{handle={handle} offset=1 limit=100}}")), "{log}");
    let (_, log) = serve(&sandbox, &[("ONETOOL_LOG", "info")], &requests);
    assert!(!log.contains("ot.result{") && !log.contains("close"), "not at info: {log}");
}

#[test]
fn d7_the_log_can_be_one_json_object_per_line() {
    let sandbox = Sandbox::with_config("stats: {enabled: true}\n");
    let variables = [("ONETOOL_LOG", "debug"), ("ONETOOL_LOG_FORMAT", "json")];
    let requests = [run("ot.version()"), run("ot.result(handle='none', search='x')"), run("[1, 2]")];
    let (_, log) = serve(&sandbox, &variables, &requests);
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().all(Value::is_object));
    let span = lines.iter().find(|it| it["span"]["name"] == "ot.result").unwrap_or_else(|| panic!("{log}"));
    assert_eq!(
        (&span["span"]["handle"], &span["span"]["offset"], &span["span"]["limit"], &span["span"]["search"]),
        (&json!("none"), &json!(1), &json!(100), &json!("x"))
    );
    assert!(lines.iter().any(|it| it["fields"]["outcome"] == "ok" && it["fields"]["message"] == "tool call"));
    let (_, log) = serve(&sandbox, &[("ONETOOL_LOG_FORMAT", "xml"), ("ONETOOL_LOG", "a=b=c")], &[]);
    assert!(log.contains("unknown ONETOOL_LOG_FORMAT 'xml'; use text or json"), "{log}");
    assert!(log.contains("invalid ONETOOL_LOG"), "{log}");
}
