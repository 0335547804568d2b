//! H6: queries of SQLite files have limits on length, memory and time, and the gateway's memory stays small.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::{Sandbox, wait_for};

const CONFIG: &str = "packs: {db: {urls: {shop: 'sqlite:../shop.db'}, timeout: 5}}\n";

/// A gateway over stdio.
struct StdioGateway {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl StdioGateway {
    fn start(sandbox: &Sandbox) -> Self {
        // An empty file is a database without tables.
        std::fs::write(sandbox.path().join("shop.db"), "").unwrap();
        let mut command = sandbox.command(&["serve"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut gateway = Self { child, input, output };
        let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        gateway.send(0, "initialize", &client);
        gateway.response();
        gateway
    }

    fn send(&mut self, id: usize, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
    }

    /// Returns the next message that is not a notification.
    fn response(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the gateway exited");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Sends all queries concurrently; returns their results in order.
    fn query(&mut self, queries: &[String]) -> Vec<String> {
        for (index, sql) in queries.iter().enumerate() {
            let code = format!("db.query(url='shop', sql={})", json!(sql));
            self.send(index + 1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
        }
        let mut results: Vec<(u64, String)> = queries
            .iter()
            .map(|_| {
                let response = self.response();
                (response["id"].as_u64().unwrap(), response["result"].to_string())
            })
            .collect();
        results.sort();
        results.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the peak memory of the gateway process in MiB.
    fn peak_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

/// Counts the query processes of a gateway.
fn count_query_processes(gateway: u32) -> usize {
    let is_query = |process: &std::path::Path| {
        let read = |name: &str| std::fs::read_to_string(process.join(name)).unwrap_or_default();
        read("status").contains(&format!("PPid:\t{gateway}\n"))
            && read("cmdline").contains("__worker\0document\0sqlite")
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(|it| is_query(&it.path())).count()
}

impl Drop for StdioGateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn h6_no_question_takes_more_memory_than_it_may() {
    let sandbox = Sandbox::with_config(&CONFIG.replace("timeout: 5", "timeout: 100"));
    let mut gateway = StdioGateway::start(&sandbox);
    let long = vec!["select length(hex(zeroblob(499999990))||'x')".to_owned(); 8];
    for result in gateway.query(&long) {
        assert!(result.contains("longer than 16 MiB"), "{result}");
    }
    // Values that are short enough alone, but not together.
    let wide = format!("select {}", vec!["length(hex(zeroblob(8000000)) || random())"; 400].join(" + "));
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n) \
                select count(*) from (select i, hex(randomblob(50000)) as x from n order by x)";
    let joined = "with recursive n(i) as (select 1 union all select i + 1 from n limit 20000) \
                  select length(group_concat(hex(zeroblob(1000)))) from n";
    let padded = "select printf('%*c', 900000000, 'x')";
    let grown =
        "with recursive s(x) as (select 'x' union all select x || x from s) select max(length(x)) from s";
    for (sql, expected) in [
        (wide.as_str(), "MiB of memory"),
        (many, "MiB of memory"),
        (joined, "longer than 16 MiB"),
        (padded, "longer than 16 MiB"),
        (grown, "longer than 16 MiB"),
    ] {
        for result in gateway.query(&vec![sql.to_owned(); 4]) {
            assert!(result.contains(expected), "{sql}: {result}");
        }
    }
    let rows =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select hex(zeroblob(1000)) from n";
    let code = format!("db.query(url='shop', sql={}, limit=100000)", json!(rows));
    gateway.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    assert!(gateway.response().to_string().contains("larger than 33554432 bytes"));
    let control = "select replace(hex(zeroblob(4000000)), '0', char(1)) as x";
    let code = format!("len(db.query(url='shop', sql={})['rows'])", json!(control));
    gateway.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    assert!(
        gateway.response().to_string().contains("larger than 33554432 bytes"),
        "as JSON it is six times as long"
    );
    assert!(gateway.query(&["select 1 as one".to_owned()])[0].contains("one"));
    let peak = gateway.peak_mib();
    assert!(peak < 400, "the gateway's peak was {peak} MiB");
}

#[test]
fn h6_no_question_takes_more_time_than_it_may() {
    let sandbox = Sandbox::with_config(&CONFIG.replace("timeout: 5", "timeout: 0.5"));
    let mut gateway = StdioGateway::start(&sandbox);
    // A single step of SQLite's virtual machine that takes hours: nothing inside SQLite can interrupt it.
    let stuck = "select instr(replace(hex(zeroblob(4000000)), '0', 'a'), replace(hex(zeroblob(2000000)), '0', 'a') || 'b')";
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    for sql in [stuck, endless] {
        let results = gateway.query(&vec![sql.to_owned(); 4]);
        assert!(results.iter().all(|it| it.contains("took longer than 0.5 s")), "{results:?}");
    }
    // Each query has a process, which does not outlive it.
    let code = format!("db.query(url='shop', sql={})", json!(stuck));
    gateway.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    let id = gateway.child.id();
    wait_for("the query's process", || (count_query_processes(id) > 0).then_some(()));
    gateway.response();
    wait_for("the end of the query's process", || (count_query_processes(id) == 0).then_some(()));
    assert!(gateway.query(&["select 7 as seven".to_owned()])[0].contains('7'));
}

#[test]
fn h6_no_question_reaches_beyond_its_file() {
    let writable = CONFIG.replace("timeout: 5", "writable: [shop]");
    let sandbox = Sandbox::with_config(&writable);
    let mut gateway = StdioGateway::start(&sandbox);
    let other = sandbox.path().join("other.db").display().to_string();
    let refused = [
        format!("attach '{other}' as other"),
        format!("vacuum into '{other}'"),
        format!("vacuum into 'file:{other}?mode=rwc'"),
        "select load_extension('x')".into(),
        "pragma temp_store_directory = '/tmp'".into(),
        "pragma hard_heap_limit = 0".into(),
        "pragma temp_store = 1".into(),
        "pragma writable_schema = on".into(),
        "select writefile('/tmp/x', 'y')".into(),
        "select readfile('/etc/passwd')".into(),
        "select fts3_tokenizer('simple')".into(),
    ];
    for (sql, result) in refused.iter().zip(gateway.query(&refused)) {
        assert!(result.contains("\"isError\":true"), "{sql}: {result}");
    }
    assert!(!sandbox.path().join("other.db").exists());
}
