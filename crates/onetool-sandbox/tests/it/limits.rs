//! Every limit ends a run with its own error, and the next run works.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use onetool_sandbox::{Completion, LimitKind, Limits, RunError, Sandbox};
use serde_json::json;

use crate::support::{TestHost, limits, run, run_with, sandbox, value};

/// Runs `source` with `limits` and returns the exceeded limit, its message, and the printed text.
async fn limit(sandbox: &Sandbox, source: &str, limits: &Limits) -> (LimitKind, String, String) {
    match run_with(sandbox, source, limits, Arc::new(TestHost::default())).await {
        Err(ref error @ RunError::Limit { limit, ref printed, .. }) => {
            (limit, error.to_string(), printed.clone())
        }
        other => panic!("{source}\n{other:#?}"),
    }
}

#[tokio::test]
async fn s1_an_endless_loop_ends_at_the_time_limit() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let limits = Limits { time: Duration::from_millis(300), ..limits() };
    let start = Instant::now();
    let looping = limit(&sandbox, "print('on')\nwhile True: pass", &limits);
    // Another run in the same sandbox works meanwhile.
    let other = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let result = value(&sandbox, "1 + 1").await;
        (result, start.elapsed())
    };
    let ((kind, text, printed), (result, elapsed)) = tokio::join!(looping, other);
    assert_eq!((kind, result), (LimitKind::Time, json!(2)));
    assert_eq!(text, "time limit: the code ran longer than 300 ms");
    assert_eq!(printed, "on\n");
    assert!(elapsed < Duration::from_millis(300), "{elapsed:?}");
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(value(&sandbox, "2").await, json!(2));
}

#[tokio::test]
async fn s4_waiting_on_a_tool_does_not_stop_the_clock() {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let limits = Limits { time: Duration::from_millis(300), ..limits() };
    for source in [
        "t.hang()",
        "import asyncio\nawait asyncio.gather(t.hang(), t.hang())",
        "import time\ntime.sleep(60)",
    ] {
        assert_eq!(limit(&sandbox, source, &limits).await.0, LimitKind::Time, "{source}");
    }
    let text = limit(&sandbox, "t.hang()", &Limits { time: Duration::from_secs(1), ..limits }).await.1;
    assert_eq!(text, "time limit: the code ran longer than 1 s");
}

/// A name, a program, and the possible names of its error.
type Bomb<'a> = (&'a str, &'a str, &'a [&'a str]);

/// Runs bombs one after the other. The sandbox must still work after each of them.
async fn set_off(bombs: &[Bomb<'_>]) {
    let sandbox = sandbox();
    for (name, source, expected) in bombs {
        let start = Instant::now();
        let seconds = if expected.contains(&"time limit") { 2 } else { 15 };
        let limits = Limits { time: Duration::from_secs(seconds), memory_bytes: 128 << 20, ..limits() };
        let outcome = run_with(&sandbox, source, &limits, Arc::new(TestHost::default())).await;
        let found = match &outcome {
            Ok(_) => "value".to_owned(),
            Err(RunError::Exception { kind, .. }) => kind.clone(),
            Err(RunError::Limit { limit, .. }) => limit.to_string(),
            Err(RunError::Syntax { .. }) => "SyntaxError".to_owned(),
            Err(other) => other.to_string(),
        };
        let elapsed = start.elapsed();
        assert!(expected.contains(&found.as_str()), "{name} ({elapsed:?}): {outcome:?}");
        assert_eq!(value(&sandbox, "1 + 1").await, json!(2), "after {name}");
    }
}

#[tokio::test]
async fn s2_run_6_1_memory_bombs() {
    set_off(&[
        ("huge string", "'a' * 10**10", &["MemoryError", "memory limit"]),
        ("huge list", "[0] * 10**9", &["MemoryError", "memory limit"]),
        ("huge bytes", "bytearray(10**10)", &["MemoryError", "memory limit"]),
        ("doubling list", "a = [1]\nwhile True: a = a + a", &["MemoryError", "memory limit"]),
        ("appending", "a = []\nwhile True: a.append('x' * 1000000)", &["MemoryError", "memory limit"]),
        ("doubling string", "a = 'x'\nwhile True: a += a", &["MemoryError", "memory limit"]),
        (
            "growing dict",
            "d = {}\ni = 0\nwhile True:\n    d[i] = str(i) * 1000\n    i += 1",
            &["MemoryError", "memory limit"],
        ),
        ("a set from a generator", "set(range(10**12))", &["MemoryError", "memory limit"]),
        (
            "huge power",
            "2 ** 10 ** 9",
            &["MemoryError", "memory limit", "time limit", "ValueError", "result limit"],
        ),
        ("tower", "x = 9 ** 9 ** 9 ** 9", &["MemoryError", "memory limit", "time limit", "OverflowError"]),
        ("shift", "1 << 10**12", &["MemoryError", "memory limit", "OverflowError"]),
        (
            "format width",
            "'{:>10000000000}'.format(1)",
            &["MemoryError", "memory limit", "ValueError", "OverflowError"],
        ),
        (
            "threads",
            "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
            &["RuntimeError", "memory limit", "time limit", "MemoryError"],
        ),
        (
            "zip of zeros",
            "import zlib\nzlib.decompress(zlib.compress(b'0' * 50_000_000) * 1)\n'0' * 500_000_000",
            &["MemoryError", "memory limit"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn s2_run_6_1_endless_recursion() {
    set_off(&[
        ("recursion", "def f(n): return f(n + 1)\nf(0)", &["RecursionError"]),
        ("mutual recursion", "def f(n): return g(n)\ndef g(n): return f(n)\nf(0)", &["RecursionError"]),
        (
            "recursive repr",
            "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
            &["RecursionError"],
        ),
        (
            "recursive eq",
            "class A:\n    def __eq__(self, o): return self == o\nA() == A()",
            &["RecursionError"],
        ),
        (
            "recursive getattr",
            "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().y",
            &["RecursionError"],
        ),
        (
            "deep list",
            "a = []\nfor _ in range(100000): a = [a]\nrepr(a)",
            &["RecursionError", "nesting limit"],
        ),
        (
            "deep json",
            "import json\njson.loads('[' * 1000000)",
            &["RecursionError", "nesting limit", "JSONDecodeError"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn s2_run_6_1_work_without_end() {
    set_off(&[
        (
            "sum of lists",
            "sum([[i] * 1000 for i in range(10**6)], [])",
            &["MemoryError", "memory limit", "time limit"],
        ),
        ("factorial", "import math\nmath.factorial(10**8)", &["MemoryError", "memory limit", "time limit"]),
        ("catastrophic regex", "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", &["time limit"]),
        (
            "endless generator",
            "(i for i in iter(int, 1))",
            &["MemoryError", "memory limit", "time limit", "result limit"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn s2_run_6_1_deep_nesting() {
    let nested = "[".repeat(10 << 20);
    let unary = format!("x = {}1", "-".repeat(200_000));
    let sum = format!("x = 1{}", " + 1".repeat(200_000));
    let attributes = format!("x = a{}", ".b".repeat(200_000));
    let nots = format!("x = {} 1", "not ".repeat(200_000));
    let blocks = (0..3000).map(|depth| " ".repeat(depth)).collect::<Vec<_>>().join("if 1:\n");
    set_off(&[
        ("nested brackets", &nested, &["nesting limit"]),
        ("unary chain", &unary, &["nesting limit", "memory limit", "RecursionError"]),
        ("long sum", &sum, &["nesting limit", "memory limit", "RecursionError", "value"]),
        ("attribute chain", &attributes, &["nesting limit", "memory limit", "RecursionError", "NameError"]),
        ("not chain", &nots, &["nesting limit", "memory limit", "RecursionError"]),
        ("nested blocks", &blocks, &["SyntaxError", "nesting limit"]),
        (
            "eval of brackets",
            "eval('(' * 100000 + ')' * 100000)",
            &["nesting limit", "memory limit", "SyntaxError", "RecursionError", "MemoryError"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn memory_errors_can_be_caught() {
    let sandbox = sandbox();
    assert_eq!(
        value(&sandbox, "try:\n    'a' * 10**10\nexcept MemoryError:\n    r = 'small again'\nr").await,
        json!("small again")
    );
    let source = "def f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    r = str(e)\nr";
    assert!(value(&sandbox, source).await.as_str().unwrap().contains("recursion"));
}

#[tokio::test]
async fn s4_limits_apply_separately_and_are_named() {
    let sandbox = sandbox();
    let few = Limits { max_calls: 3, ..limits() };
    let (kind, text, printed) =
        limit(&sandbox, "for i in range(9):\n    t.value(i)\n    print(i)", &few).await;
    assert_eq!((kind, text.as_str()), (LimitKind::Calls, "call limit: the code made more than 3 calls"));
    assert_eq!(printed, "0\n1\n2\n");

    // Calls can wait in a queue, but the size of their arguments is limited.
    let narrow = Limits { max_parallel: 2, max_result_bytes: 1000, ..limits() };
    let source = "import asyncio\nawait asyncio.gather(*[t.slow('x' * 400) for i in range(6)])";
    let (kind, text, _) = limit(&sandbox, source, &narrow).await;
    assert_eq!(kind, LimitKind::Parallel);
    assert_eq!(
        text,
        "parallel call limit: more than 2 concurrent calls, and those in the queue have more than 1000 bytes of \
         arguments; use asyncio.Semaphore(2) or fewer workers"
    );

    let quiet = Limits { max_print_bytes: 100, ..limits() };
    let (kind, text, printed) = limit(&sandbox, "while True: print('hällo')", &quiet).await;
    assert_eq!(
        (kind, text.as_str()),
        (LimitKind::Print, "print limit: the code printed more than 100 bytes")
    );
    assert!(printed.len() <= 100 && printed.len() > 90);
    assert_eq!(limit(&sandbox, "print('x' * 10_000_000)", &quiet).await.0, LimitKind::Print);

    let small = Limits { max_result_bytes: 1000, ..limits() };
    let (kind, text, _) = limit(&sandbox, "'x' * 2000", &small).await;
    assert_eq!(
        (kind, text.as_str()),
        (LimitKind::Result, "result limit: the result is larger than 1000 bytes")
    );
    assert_eq!(limit(&sandbox, "'\\x01' * 990", &small).await.0, LimitKind::Result);
    assert!(run_with(&sandbox, "'x' * 900", &small, Arc::new(TestHost::default())).await.is_ok());

    let tight = Limits { memory_bytes: 32 << 20, ..limits() };
    let source = "a = []\nwhile True: a.append(bytes(1000))";
    match run_with(&sandbox, source, &tight, Arc::new(TestHost::default())).await {
        Err(RunError::Limit { limit: LimitKind::Memory, message, .. }) => {
            assert_eq!(message, "the code needed more than 32 MB of memory");
        }
        Err(RunError::Exception { kind, .. }) => assert_eq!(kind, "MemoryError"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s4_calls_beyond_the_parallel_limit_wait_their_turn() {
    let sandbox = sandbox();
    let narrow = Limits { max_parallel: 3, ..limits() };
    for source in [
        "import asyncio\nawait asyncio.gather(*[t.slow(i) for i in range(10)])",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(10) as p: r = list(p.map(t.slow, range(10)))\nr",
    ] {
        let host = Arc::new(TestHost::default());
        let outcome = run_with(&sandbox, source, &narrow, host.clone()).await.unwrap();
        assert_eq!(outcome.value, Completion::Value("[0,1,2,3,4,5,6,7,8,9]".to_owned()), "{source}");
        assert_eq!(outcome.calls, 10);
        assert_eq!(host.most_in_flight.load(Ordering::SeqCst), 3, "{source}");
    }
    // Queued calls are never made if the run ends first.
    let host = Arc::new(TestHost::default());
    let short = Limits { max_parallel: 2, time: Duration::from_millis(500), ..limits() };
    let source = "import asyncio\nawait asyncio.gather(*[t.hang() for _ in range(5)])";
    assert!(run_with(&sandbox, source, &short, host.clone()).await.is_err());
    assert_eq!(host.calls.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_run_within_its_limits_succeeds() {
    let sandbox = sandbox();
    let source = "a = ['x' * 1000 for _ in range(50_000)]\nprint('y' * 900_000)\nlen(a)";
    let outcome = run(&sandbox, source).await.unwrap();
    assert_eq!(outcome.printed.len(), 900_001);
}

#[tokio::test]
async fn h5_results_that_code_does_not_read_do_not_pile_up() {
    let sandbox = sandbox();
    let limits = Limits { time: Duration::from_secs(3), max_buffer_bytes: 20_000_000, ..limits() };
    let host = Arc::new(TestHost::default());
    let source = "import asyncio\nasync def one(): return await t.big(500_000)\n\
                  tasks = [asyncio.create_task(one()) for _ in range(200)]\n\
                  await asyncio.sleep(0)\nwhile True: pass";
    let outcome = run_with(&sandbox, source, &limits, host.clone()).await;
    assert!(matches!(&outcome, Err(RunError::Limit { limit: LimitKind::Time, .. })), "{outcome:?}");
    let calls = host.calls.lock().unwrap().len();
    assert!(calls > 15 && calls < 50, "{calls} of 200 calls were made for code that reads no results");
}

#[tokio::test]
async fn h5_large_results_one_after_the_other_are_fine() {
    let sandbox = sandbox();
    let limits = Limits { max_buffer_bytes: 20_000_000, ..limits() };
    let source = "sum(len(t.big(5_000_000)) for _ in range(20))";
    let outcome = run_with(&sandbox, source, &limits, Arc::new(TestHost::default())).await.unwrap();
    assert_eq!(outcome.value, Completion::Value("100000000".to_owned()));
}

#[tokio::test]
async fn h5_what_the_gateway_holds_for_a_run_is_bounded() {
    let sandbox = sandbox();
    let tight = Limits { max_buffer_bytes: 10_000_000, ..limits() };
    let (kind, text, _) = limit(&sandbox, "len(t.big(20_000_000))", &tight).await;
    assert_eq!(kind, LimitKind::Buffer);
    assert_eq!(
        text,
        "buffer limit: arguments and results of in-flight calls need more than 10000000 bytes; \
         make fewer or smaller calls at a time"
    );
    assert_eq!(limit(&sandbox, "t.echo([0] * 200_000)", &tight).await.0, LimitKind::Buffer);
}

#[tokio::test]
async fn h5_calls_that_wait_for_room_continue_once_there_is_some() {
    let sandbox = sandbox();
    let limits = Limits { max_buffer_bytes: 4_000_000, max_parallel: 2, ..limits() };
    let source = "import asyncio, time\nasync def one(): return len(await t.big(800_000))\n\
                  tasks = [asyncio.create_task(one()) for _ in range(8)]\n\
                  await asyncio.sleep(0)\ntime.sleep(0.5)\nsum(await asyncio.gather(*tasks))";
    let outcome = run_with(&sandbox, source, &limits, Arc::new(TestHost::default())).await.unwrap();
    assert_eq!(outcome.value, Completion::Value("6400000".to_owned()));
}
