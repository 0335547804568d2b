//! S1, S2, S4: limits of code, with real clients while others keep working.

use std::pin::pin;
use std::sync::Arc;

use onetool::{CallContext, Server, tool_fn};
use onetool_testkit::{Client, Era};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::ways::{Connected, Ways, run};
use crate::{Text, gateway_with_run};

fn register(server: &Server) {
    let shout = tool_fn("demo.shout", "Makes text loud.", |args: Text, _: CallContext| async move {
        args.text.to_uppercase()
    });
    server.register_tool(shout).unwrap();
    let hang = tool_fn("demo.hang", "Never returns.", |_: Text, _: CallContext| async {
        std::future::pending::<String>().await
    });
    server.register_tool(hang).unwrap();
    let two = Arc::new(Barrier::new(2));
    let pair = tool_fn("demo.pair", "Waits for another call.", move |args: Text, _: CallContext| {
        let two = two.clone();
        async move {
            two.wait().await;
            args.text
        }
    });
    server.register_tool(pair).unwrap();
}

#[tokio::test]
async fn s1_the_server_responds_while_code_loops_and_the_next_run_works() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), "run: {timeout: 1}", register);
    gateway.warm().await;
    for Connected { client, era, way } in Ways::to(gateway.server()).await.all().await {
        let mut looping = pin!(run(&client, "print('on')\nwhile True: pass"));
        let mut responses = 0;
        let text = loop {
            tokio::select! {
                text = &mut looping => break text,
                is_alive = client.is_alive(era) => {
                    assert!(is_alive, "{way}");
                    responses += 1;
                }
            }
        };
        assert_eq!(text, "error: on\ntime limit: the code ran longer than 1 s", "{way}");
        assert!(responses > 10, "{way}: only {responses} responses in a second");
        assert_eq!(run(&client, "x = 1\nx + 1").await, "2", "{way}");
    }
}

/// Runs a bomb while another client works.
async fn run_bomb(bomber: &Client, worker: &Client, bomb: &str) -> String {
    let mut bombing = pin!(run(bomber, bomb));
    let mut rounds = 0;
    loop {
        let work = async {
            let direct = worker.call_text("demo_shout", json!({"text": "a"})).await;
            (direct, run(worker, "x = [demo.shout(text=c) for c in 'bc']\nx").await)
        };
        tokio::select! {
            // At least one round of work, even if the bomb ends quickly.
            text = &mut bombing, if rounds > 0 => return text,
            (direct, ran) = work => {
                assert_eq!((direct.as_str(), ran.as_str()), ("A", r#"["B","C"]"#), "{bomb:.80}");
                rounds += 1;
            }
        }
    }
}

#[tokio::test]
async fn s2_every_bomb_stops_at_a_named_limit_while_another_client_works() {
    let folder = TempDir::new().unwrap();
    let config = "run: {timeout: 3, memory_mb: 96}";
    let gateway = gateway_with_run(folder.path(), config, register);
    let ways = Ways::to(gateway.server()).await;
    let worker = ways.http(Era::Sessions).await;
    let brackets = "[".repeat(10 << 20);
    let any_limit =
        ["time limit", "memory limit", "nesting limit", "result limit", "MemoryError", "RecursionError"];
    let bombs: [(&str, &str, &[&str]); 8] = [
        ("string", "'a' * 10**10", &["MemoryError", "memory limit"]),
        ("doubling", "a = [1]\nwhile True: a = a + a", &["MemoryError", "memory limit"]),
        ("recursion", "def f(n): return f(n + 1) if n < 10**6 else n\nf(0)", &["RecursionError"]),
        ("brackets", &brackets, &["nesting limit"]),
        ("power", "x = 2**10**9\nlen(str(x))", &any_limit),
        ("regex", "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", &["time limit"]),
        (
            "threads",
            "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
            &["memory limit", "time limit", "RuntimeError", "MemoryError"],
        ),
        ("print", "while True: print('x' * 1000)", &["print limit"]),
    ];
    for era in Era::BOTH {
        let lines = Client::connect_with(gateway.server(), era).await;
        for (name, bomb, expected) in bombs {
            let text = run_bomb(&lines, &worker, bomb).await;
            assert!(text.starts_with("error: "), "{name}: {text:.200}");
            let text = text.trim_start_matches("error: ");
            let line = text.lines().find(|line| expected.iter().any(|it| line.contains(it)));
            assert!(line.is_some() && text.len() < 4096, "{name}, {era:?}: {text:.300}");
            assert_eq!(run(&lines, "x = 1\nx + 1").await, "2", "after {name}");
        }
    }
}

#[tokio::test]
async fn s4_every_limit_applies_separately_and_by_name_for_every_client() {
    let folder = TempDir::new().unwrap();
    let config = "server: {call_timeout: 0.3}\nrun: {timeout: 2, max_calls: 8, max_parallel: 2, max_print: 1000, \
                  max_result: 5000}";
    let gateway = gateway_with_run(folder.path(), config, register);
    let cases = [
        ("for i in range(9): demo.shout(text='x')", "call limit: the code made more than 8 calls"),
        (
            "import asyncio\nawait asyncio.gather(*[demo.hang(text='x' * 2000) for _ in range(6)])",
            "parallel call limit: more than 2 concurrent calls, and those in the queue have more than 5000 bytes of \
             arguments; use asyncio.Semaphore(2) or fewer workers",
        ),
        ("while True: print('x' * 99)", "print limit: the code printed more than 1000 bytes"),
        ("x = 'x' * 6000\nx", "result limit: the result is larger than 5000 bytes"),
        ("import time\ntime.sleep(9)", "time limit: the code ran longer than 2 s"),
        // The timeout of a call is another limit: it raises at the call, and the run continues.
        (
            "x = demo.hang(text='a')\nx",
            "ToolError: tool 'demo.hang' timed out after 0.3 s; \
             signature: demo.hang(text: str) (line 1)",
        ),
        // Waiting for tools, each within its timeout, counts toward the time limit of the run.
        (
            "while True:\n    try:\n        demo.hang(text='a')\n    except ToolError:\n        pass",
            "time limit: the code ran longer than 2 s",
        ),
    ];
    for Connected { client, way, .. } in Ways::to(gateway.server()).await.all().await {
        for (code, expected) in cases {
            let text = run(&client, code).await;
            assert_eq!(
                text.lines().last().unwrap(),
                if text.contains('\n') { expected.to_owned() } else { format!("error: {expected}") },
                "{way}: {code}"
            );
        }
        // More calls than may run concurrently are not an error.
        let gathered = "import asyncio\nawait asyncio.gather(*[demo.pair(text=str(i)) for i in range(6)])";
        assert_eq!(run(&client, gathered).await, r#"["0","1","2","3","4","5"]"#, "{way}");
    }
}
