//! H6: questions to SQLite files have limits on length, memory and time, and the gateway stays small.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::Sandbox;

const CONFIG: &str = "packs: {db: {urls: {shop: 'sqlite:../shop.db'}, timeout: 5}}\n";

/// The gateway as a client has it: requests in, answers out.
struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(sandbox: &Sandbox) -> Self {
        // An empty file is a database without tables.
        std::fs::write(sandbox.path().join("shop.db"), "").unwrap();
        let mut command = sandbox.command(&["serve"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut served = Self { child, input, output };
        let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        served.send(0, "initialize", &client);
        served.answer();
        served
    }

    fn send(&mut self, id: usize, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
    }

    fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the gateway is gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Asks all of it at once; returns the answers in the order of the questions.
    fn ask(&mut self, questions: &[String]) -> Vec<String> {
        for (index, sql) in questions.iter().enumerate() {
            let code = format!("db.query(url='shop', sql={})", json!(sql));
            self.send(index + 1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
        }
        let mut answers: Vec<(u64, String)> = questions
            .iter()
            .map(|_| {
                let answer = self.answer();
                (answer["id"].as_u64().unwrap(), answer["result"].to_string())
            })
            .collect();
        answers.sort();
        answers.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the most memory that the gateway itself has held, in MiB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

/// Counts the processes that a gateway has started for questions.
fn queries_of(gateway: u32) -> usize {
    let is_query = |process: &std::path::Path| {
        let read = |name: &str| std::fs::read_to_string(process.join(name)).unwrap_or_default();
        read("status").contains(&format!("PPid:\t{gateway}\n"))
            && read("cmdline").contains("__worker\0document\0sqlite")
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(|it| is_query(&it.path())).count()
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn h6_no_question_takes_more_memory_than_it_may() {
    let sandbox = Sandbox::with_config(&CONFIG.replace("timeout: 5", "timeout: 100"));
    let mut served = Served::start(&sandbox);
    let long = vec!["select length(hex(zeroblob(499999990))||'x')".to_owned(); 8];
    for answer in served.ask(&long) {
        assert!(answer.contains("longer than 16 MiB"), "{answer}");
    }
    // Values that are each short enough, and together are not.
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
        for answer in served.ask(&vec![sql.to_owned(); 4]) {
            assert!(answer.contains(expected), "{sql}: {answer}");
        }
    }
    let rows =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select hex(zeroblob(1000)) from n";
    let code = format!("db.query(url='shop', sql={}, limit=100000)", json!(rows));
    served.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    assert!(served.answer().to_string().contains("more than 33554432 bytes"));
    let control = "select replace(hex(zeroblob(4000000)), '0', char(1)) as x";
    let code = format!("len(db.query(url='shop', sql={})['rows'])", json!(control));
    served.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    assert!(
        served.answer().to_string().contains("more than 33554432 bytes"),
        "as JSON it is six times as long"
    );
    assert!(served.ask(&["select 1 as one".to_owned()])[0].contains("one"));
    let peak = served.peak();
    assert!(peak < 400, "the gateway took {peak} MiB");
}

#[test]
fn h6_no_question_takes_more_time_than_it_may() {
    let sandbox = Sandbox::with_config(&CONFIG.replace("timeout: 5", "timeout: 0.5"));
    let mut served = Served::start(&sandbox);
    // One step of the machine that takes hours: nothing inside SQLite can interrupt it.
    let stuck = "select instr(replace(hex(zeroblob(4000000)), '0', 'a'), replace(hex(zeroblob(2000000)), '0', 'a') || 'b')";
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    for sql in [stuck, endless] {
        let answers = served.ask(&vec![sql.to_owned(); 4]);
        assert!(answers.iter().all(|it| it.contains("took longer than 0.5 s")), "{answers:?}");
    }
    // Each had a process, and none is left behind.
    let code = format!("db.query(url='shop', sql={})", json!(stuck));
    served.send(1, "tools/call", &json!({"name": "run", "arguments": {"command": code}}));
    let gateway = served.child.id();
    while queries_of(gateway) == 0 {
        std::thread::yield_now();
    }
    served.answer();
    while queries_of(gateway) > 0 {
        std::thread::yield_now();
    }
    assert!(served.ask(&["select 7 as seven".to_owned()])[0].contains('7'));
}

#[test]
fn h6_no_question_reaches_beyond_its_file() {
    let writable = CONFIG.replace("timeout: 5", "writable: [shop]");
    let sandbox = Sandbox::with_config(&writable);
    let mut served = Served::start(&sandbox);
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
    for (sql, answer) in refused.iter().zip(served.ask(&refused)) {
        assert!(answer.contains("\"isError\":true"), "{sql}: {answer}");
    }
    assert!(!sandbox.path().join("other.db").exists());
}
