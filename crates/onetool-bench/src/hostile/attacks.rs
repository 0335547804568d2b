//! The attacks: what each sends, and how it notices success.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::gateway::TOKEN;
use super::{Agent, Attack, SECRET, Target};

/// A value in the arguments of calls, which must not be logged.
pub(super) const ARGUMENT: &str = "canary-argument-93aa";

pub(super) const ATTACKS: &[Attack] = &[
    Attack { id: "-", what: "none, to compare with", run: nothing },
    Attack { id: "H1", what: "write the configuration and reload it; read secrets", run: own_files },
    Attack { id: "H2", what: "a cloned directory that starts programs", run: cloned_directory },
    Attack { id: "H3", what: "pages and API descriptions that overflow parsers", run: documents },
    Attack { id: "H4", what: "schemas that take forever to check", run: schemas },
    Attack { id: "H5", what: "a program that loads large results and asks for names", run: large_results },
    Attack { id: "H6", what: "SQLite statements of gigabytes and of hours", run: sqlite },
    Attack { id: "H7", what: "PostgreSQL statements that write, run and read files", run: postgresql },
    Attack { id: "H8", what: "tool names of 3.5 MB", run: long_names },
    Attack { id: "H9", what: "32 concurrent Python bombs", run: bombs },
    Attack { id: "H10", what: "1,000 half-open connections without a token", run: half_open_connections },
    Attack { id: "H11", what: "an API description that asks for the client secret", run: client_secret },
    Attack { id: "H12", what: "searches, topics and wildcards that backtrack", run: patterns },
    Attack { id: "LOW-1", what: "spoofed Host and Origin headers", run: spoofed_headers },
    Attack { id: "LOW-2", what: "requests that are 40 times as large in memory", run: heavy_requests },
    Attack { id: "LOW-2", what: "5,000 subscriptions and loaded tools", run: subscriptions },
    Attack { id: "LOW-3", what: "a server that leaves a daemon, and one that dies", run: daemons },
    Attack { id: "L5", what: "responses that nest, flood, are garbage or never come", run: responses },
];

fn nothing(target: &Target) -> Result<()> {
    target.client()?.run("6 * 7")?;
    std::thread::sleep(Duration::from_secs(2));
    Ok(())
}

fn own_files(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    let marker = target.path("shell");
    let yaml =
        format!("tools: [{{name: evil.touch, description: d, command: [touch, {}]}}]", marker.display());
    let read = agent.call("file_read", &json!({"path": "a.txt"}))?;
    ensure!(read.contains("aaa"), "cannot read a harmless file: {read}");
    for path in ["onetool.yaml", ".onetool/onetool.yaml", "secrets.yaml", ".onetool/token"] {
        agent.call("file_write", &json!({"path": path, "content": yaml}))?;
        let read = agent.call("file_read", &json!({"path": path}))?;
        ensure!(!read.contains(SECRET) && !read.contains(TOKEN), "{path} can be read: {read}");
    }
    let found = agent.call("ripgrep_search", &json!({"pattern": "canary|token-of", "hidden": true}))?;
    ensure!(!found.contains(SECRET) && !found.contains(TOKEN), "ripgrep finds it: {found}");
    let reloaded = agent.run("ot.reload()")?;
    ensure!(reloaded.starts_with("OK"), "the configuration was damaged: {reloaded}");
    agent.call("evil_touch", &json!({}))?;
    ensure!(!marker.exists(), "an agent got a shell");
    Ok(())
}

fn cloned_directory(target: &Target) -> Result<()> {
    let clone = target.path("clone");
    let marker = clone.join("started");
    fs::create_dir_all(clone.join(".onetool"))?;
    let yaml = format!("servers: {{evil: {{command: touch, args: ['{}']}}}}", marker.display());
    fs::write(clone.join(".onetool/onetool.yaml"), yaml)?;
    for arguments in [&["check"][..], &["tools"], &["run", "1 + 1"], &["serve"]] {
        let mut onetool = Command::new(&target.onetool);
        onetool.args(arguments).current_dir(&clone).env("HOME", target.path("home"));
        // The tests of H2 check the output.
        onetool.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        ensure!(!marker.exists(), "`onetool {}` started a stranger's program", arguments.join(" "));
    }
    Ok(())
}

fn documents(target: &Target) -> Result<()> {
    concurrently(target, 8, |agent, number| {
        for page in ["/breaks", "/formats", "/deep", "/tables", "/attributes"] {
            let url = target.site.url(page);
            let response = agent.call("web_fetch", &json!({"url": url, "max_length": 1000 + number}))?;
            ensure!(response.len() < 10_000, "the response to {page} has {} bytes", response.len());
            ensure!(!response.contains("not found"), "{page}: {response}");
        }
        Ok(())
    })?;
    let mut agent = target.client()?;
    let health = agent.call("ot_health", &json!({}))?;
    for api in ["bomb", "deep"] {
        ensure!(health.contains(api), "the description `{api}` is not reported: {health}");
    }
    let page = agent.call("web_fetch", &json!({"url": target.site.url("/plain")}))?;
    ensure!(page.contains("one"), "cannot read a harmless page: {page}");
    Ok(())
}

fn schemas(target: &Target) -> Result<()> {
    let items: Vec<Value> = (0..20_000).map(|number| json!({"a": number})).collect();
    let list = json!({"a": 1, "list": items});
    let text = json!({"text": "a".repeat(100_000)});
    concurrently(target, 8, |agent, _| {
        for (tool, arguments, expected) in [
            ("costly", &list, "takes too much work"),
            ("backtracking", &text, "/text"),
            ("doubled", &list, "tool not found"),
        ] {
            let response = agent.call(&format!("hostile_{tool}"), arguments)?;
            ensure!(response.contains(expected), "'{tool}': {response}");
        }
        Ok(())
    })
}

fn large_results(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    let stored = agent.run("x = ['%d' % i * 100 for i in range(60000)]\nx")?;
    let stored: Value = serde_json::from_str(&stored).with_context(|| format!("not stored: {stored}"))?;
    let handle = &stored["handle"];
    let loaded = agent.run(&format!("len(ot.load(handle={handle}))"))?;
    ensure!(loaded == "60000", "cannot load a large result: {loaded}");
    concurrently(target, 6, |agent, _| {
        agent.run(&format!("for _ in range(100): ot.load(handle={handle})"))?;
        let threads = format!(
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as pool:\n    \
             for _ in range(1000): pool.submit(ot.load, handle={handle})"
        );
        agent.run(&threads)?;
        agent.run("hostile.wide()")?;
        let names: Vec<String> = (0..100_000).map(|number| format!("unknown_{number}")).collect();
        agent.run(&format!("[{}]", names.join(", ")))?;
        agent.run("print('x' * 1000)\n".repeat(20_000).as_str())?;
        Ok(())
    })
}

fn sqlite(target: &Target) -> Result<()> {
    let statements = [
        "select length(hex(zeroblob(499999990))||'x')",
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
        "with recursive n(i) as (select 1 union all select i + 1 from n) \
            select count(*) from (select i, hex(randomblob(50000)) as x from n order by x)",
        "select printf('%*c', 900000000, 'x')",
    ];
    concurrently(target, 8, |agent, number| {
        let sql = statements[number % statements.len()];
        let response = agent.call("db_query", &json!({"url": "shop", "sql": sql}))?;
        let is_stopped =
            ["longer than 16 MiB", "MiB of memory", "longer than 5 s"].iter().any(|it| response.contains(it));
        ensure!(is_stopped, "{sql}: {response}");
        Ok(())
    })
}

fn postgresql(target: &Target) -> Result<()> {
    let marker = target.postgres.directory.join("copied");
    let program = format!("copy (select 1) to program 'touch {}'", marker.display());
    let nested = format!("select {}1{}", "(".repeat(200_000), ")".repeat(200_000));
    let long = format!("select {}", vec!["1"; 500_000].join(" + "));
    let mut agent = target.client()?;
    for sql in [&program, "select pg_read_file('/etc/passwd')", &nested, &long] {
        let response = agent.call("db_query", &json!({"url": "server", "sql": sql}))?;
        ensure!(response.starts_with("tool 'db.query' failed"), "{response}");
    }
    ensure!(!marker.exists(), "PostgreSQL ran a program");
    Ok(())
}

fn long_names(target: &Target) -> Result<()> {
    let name = "read_a_file_".repeat(300_000);
    concurrently(target, 4, |agent, _| {
        agent.call(&name, &json!({}))?;
        agent.call("tool_describe", &json!({"name": name}))?;
        agent.call("tool_find", &json!({"query": name}))?;
        agent.run(&format!("{name}()"))?;
        agent.call("ot_help", &json!({"query": name}))?;
        Ok(())
    })
}

fn bombs(target: &Target) -> Result<()> {
    let bombs = [
        "x = [0] * 10**10",
        "while True: pass",
        "x = 'a'\nwhile True: x += x",
        "9 ** 9 ** 9 ** 9",
        "def f(): f()\nf()",
        "import re\nre.match('(a+)+$', 'a' * 10000 + 'b')",
        "x = []\nwhile True: x.append(x[:])",
        "from threading import Thread\nwhile True: Thread(target=print).start()",
    ];
    concurrently(target, 32, |agent, number| {
        agent.run(bombs[number % bombs.len()])?;
        Ok(())
    })?;
    let response = target.client()?.run("6 * 7")?;
    ensure!(response == "42", "programs no longer run: {response}");
    Ok(())
}

fn half_open_connections(target: &Target) -> Result<()> {
    let mut open = Vec::new();
    for number in 0..1000 {
        let mut connection = TcpStream::connect(target.gateway.address())?;
        if number % 2 == 0 {
            // The gateway may have closed it to make room.
            let _ = connection.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
        }
        open.push(connection);
    }
    let response = target.client()?.call("ot_version", &json!({}))?;
    ensure!(!response.is_empty(), "a new client with the token gets no response");
    std::thread::sleep(Duration::from_secs(1));
    Ok(())
}

fn client_secret(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    agent.call("thief_get", &json!({}))?;
    agent.run("thief.get()")?;
    ensure!(target.site.stolen() == 0, "the client secret was sent to a stranger");
    Ok(())
}

fn patterns(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    let stored = agent.run("('a' * 999 + '\\n') * 5000")?;
    let stored: Value = serde_json::from_str(&stored).with_context(|| format!("not stored: {stored}"))?;
    concurrently(target, 8, |agent, _| {
        for (pattern, is_fuzzy) in [("(a?){500}a{500}b", false), ("(a|a)*b", false), ("aaaaaaaaab", true)] {
            let arguments = json!({"handle": stored["handle"], "search": pattern, "fuzzy": is_fuzzy});
            agent.call("ot_result", &arguments)?;
        }
        agent.call("ot_notify", &json!({"topic": "a:".repeat(500_000), "message": ARGUMENT}))?;
        agent.call("ot_tools", &json!({"pattern": "*a".repeat(100_000)}))?;
        agent.call("file_search", &json!({"pattern": "**/*a".repeat(10_000)}))?;
        agent.call("ripgrep_search", &json!({"pattern": "(a?){500}a{500}b"}))?;
        Ok(())
    })
}

fn spoofed_headers(target: &Target) -> Result<()> {
    let hosts =
        ["[::1].evil.org", "localhost@evil.org", "evil.org", "localhost, evil.org", "127.0.0.1.evil.org"];
    let origins = ["http://localhost:80@evil.org", "http://[::1].evil.org", "null", "http://evil.org"];
    let hosts = hosts.iter().map(|host| format!("Host: {host}\r\n"));
    let origins = origins.iter().map(|origin| format!("Host: localhost\r\nOrigin: {origin}\r\n"));
    for headers in hosts.chain(origins) {
        let mut connection = TcpStream::connect(target.gateway.address())?;
        let head = format!(
            "GET /tools HTTP/1.1\r\n{headers}Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
        );
        connection.write_all(head.as_bytes())?;
        let mut response = String::new();
        connection.read_to_string(&mut response)?;
        ensure!(!response.starts_with("HTTP/1.1 200"), "accepted {headers}");
    }
    Ok(())
}

fn heavy_requests(target: &Target) -> Result<()> {
    let light = json!({"text": vec![json!({}); 1_000_000]});
    let heavy = json!({"text": vec![1; 1_900_000]});
    concurrently(target, 32, |agent, _| {
        for arguments in [&light, &heavy] {
            // A refusal is an HTTP error, which ends the client.
            let _ = agent.call("hostile_huge", arguments);
        }
        Ok(())
    })
}

fn subscriptions(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    let mut refused = 0;
    for number in 0..5000 {
        let uri = format!("a://{number}/{}", "x".repeat(1900));
        let response = agent.request("resources/subscribe", &json!({"uri": uri}))?;
        refused += usize::from(response.get("error").is_some());
    }
    ensure!(refused >= 4000, "only {refused} of 5,000 subscriptions were refused");
    let names: Vec<String> = (0..5000).map(|number| format!("hostile.{number}")).collect();
    agent.call("tool_load", &json!({"names": names}))?;
    Ok(())
}

fn daemons(target: &Target) -> Result<()> {
    let mut agent = target.client()?;
    // Whether the daemon is left is checked after the gateway is killed.
    let response = agent.call("hostile_daemon", &json!({}))?;
    ensure!(response.contains("daemon"), "the server did not start its daemon: {response}");
    for _ in 0..3 {
        agent.call("stranger_exits", &json!({}))?;
    }
    Ok(())
}

fn responses(target: &Target) -> Result<()> {
    concurrently(target, 4, |agent, _| {
        for (tool, expected) in [
            ("nested", "nested too deeply"),
            ("wide", "128 MiB of memory"),
            ("flood", "flood"),
            ("huge", "xxx"),
            ("silent", "5 s"),
        ] {
            let response = agent.call(&format!("hostile_{tool}"), &json!({"text": ARGUMENT}))?;
            ensure!(response.contains(expected), "'{tool}': {}", &response[..response.len().min(500)]);
        }
        Ok(())
    })?;
    target.client()?.call("hostile_garbage", &json!({}))?;
    Ok(())
}

/// Runs an attack in several clients concurrently; returns the first failure.
fn concurrently(
    target: &Target,
    count: usize,
    attack: impl Fn(&mut Agent, usize) -> Result<()> + Sync,
) -> Result<()> {
    std::thread::scope(|scope| {
        let attack = &attack;
        let start = |number| scope.spawn(move || attack(&mut target.client()?, number));
        let running: Vec<_> = (0..count).map(start).collect();
        for thread in running {
            match thread.join() {
                Ok(result) => result?,
                Err(_) => bail!("an attacking client panicked"),
            }
        }
        Ok(())
    })
}
