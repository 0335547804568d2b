//! Calls to the host: names, arguments, failures and concurrent calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use onetool_sandbox::{Completion, RunError};
use serde_json::{Value, json};

use crate::support::{TestHost, exception, limits, run, run_with, sandbox, value};

#[tokio::test]
async fn run_3_1_packs_flat_names_and_positionals() {
    let sandbox = sandbox();
    let host = Arc::new(TestHost::default());
    let source =
        "a = t.echo(1, [2], k='v', **{'odd key': None})\nb = t_echo(x=(1, 2))\n[a, b, repr(t), repr(t.echo)]";
    let outcome = run_with(&sandbox, source, &limits(), host.clone()).await.unwrap();
    let expected = json!([
        {"args": [1, [2]], "kwargs": {"k": "v", "odd key": null}},
        {"args": [], "kwargs": {"x": [1, 2]}},
        "<pack t>", "<tool t.echo>",
    ]);
    assert_eq!((outcome.value, outcome.calls), (Completion::Value(expected.to_string()), 2));
    assert_eq!(*host.requested_names.lock().unwrap(), ["t", "t_echo"]);
}

#[tokio::test]
async fn programs_without_free_names_request_no_names() {
    let host = Arc::new(TestHost::default());
    run_with(&sandbox(), "x = [i for i in range(3)]\nprint(len(x))", &limits(), host.clone()).await.unwrap();
    assert!(host.requested_names.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_programs_own_names_take_precedence() {
    let sandbox = sandbox();
    assert_eq!(value(&sandbox, "t = {'echo': 1}\nt['echo']").await, json!(1));
    assert_eq!(value(&sandbox, "web = t.value(web.__name__)\nweb").await, json!("web"));
    assert_eq!(value(&sandbox, "def f(t): return t + 1\n[f(1), t.value(2)]").await, json!([2, 2]));
}

#[tokio::test]
async fn run_3_3_unknown_names_carry_the_hosts_hint() {
    let sandbox = sandbox();
    let (kind, message, line) = exception(&sandbox, "x = 1\nbrvae.search()").await;
    assert_eq!(kind, "NameError");
    assert_eq!(message, "name 'brvae' is not defined. Did you mean: brave?");
    assert_eq!(line, Some(2));
    let (kind, message, _) = exception(&sandbox, "t.ecko()").await;
    assert_eq!((kind.as_str(), message.as_str()), ("AttributeError", "no tool 't.ecko'. Near: t.echo"));
    let (kind, message, _) = exception(&sandbox, "t.wrong(z=1)").await;
    assert_eq!((kind.as_str(), message.as_str()), ("TypeError", "t.wrong(q: str)"));
}

#[tokio::test]
async fn s7_a_failed_tool_raises_and_can_be_caught() {
    let sandbox = sandbox();
    let (kind, message, line) = exception(&sandbox, "x = 1\n\nt.fail()").await;
    assert_eq!((kind.as_str(), message.as_str(), line), ("ToolError", "t.fail: it is broken", Some(3)));
    let source = "out = []\nfor i in range(3):\n    try:\n        out.append(t.value(i) if i != 1 else t.fail())\n    \
                  except ToolError as e:\n        out.append(str(e))\nout";
    assert_eq!(value(&sandbox, source).await, json!([0, "t.fail: it is broken", 2]));
    let (kind, ..) = exception(&sandbox, "t.deep()").await;
    assert_eq!(kind, "ValueError");
}

/// Runs a program that calls `t.slow` (100 ms) several times. Returns its value, the maximum number of concurrent calls,
/// and the elapsed time.
async fn overlap(source: &str) -> (Value, u32, Duration) {
    let sandbox = sandbox();
    sandbox.warm().await.unwrap();
    let host = Arc::new(TestHost::default());
    let start = Instant::now();
    let outcome = run_with(&sandbox, source, &limits(), host.clone()).await;
    let elapsed = start.elapsed();
    match outcome {
        Ok(outcome) => match outcome.value {
            Completion::Value(value) => {
                (serde_json::from_str(&value).unwrap(), host.most_in_flight.load(Ordering::SeqCst), elapsed)
            }
            Completion::NoValue => panic!("{source}: no value"),
        },
        Err(error) => panic!("{source}\n{error:#?}"),
    }
}

#[tokio::test]
async fn run_3_5_gathered_and_pooled_calls_overlap() {
    let cases: &[(&str, &str, Value)] = &[
        ("gather", "import asyncio\nawait asyncio.gather(t.slow(1), t.slow(2), t.slow(3))", json!([1, 2, 3])),
        (
            "list, then gather",
            "import asyncio\ntasks = [t.slow(i) for i in range(3)]\nr = await asyncio.gather(*tasks)\nr",
            json!([0, 1, 2]),
        ),
        (
            "append, then gather",
            "import asyncio\ntasks = []\nfor i in range(3):\n    tasks.append(t.slow(i))\nawait asyncio.gather(*tasks)",
            json!([0, 1, 2]),
        ),
        (
            "main and run",
            "import asyncio\nasync def main():\n    a, b = await asyncio.gather(t.slow(1), t.slow(2))\n    return a + b\n\
             asyncio.run(main())",
            json!(3),
        ),
        (
            "create_task",
            "import asyncio\nasync def main():\n    a = asyncio.create_task(t.slow(1))\n    b = asyncio.create_task(t.slow(2))\n    \
             return [await a, await b]\nasyncio.run(main())",
            json!([1, 2]),
        ),
        (
            "own coroutine",
            "import asyncio\nasync def one(i):\n    r = await t.slow(i)\n    return r * 2\n\
             await asyncio.gather(*[one(i) for i in range(4)])",
            json!([0, 2, 4, 6]),
        ),
        (
            "task group",
            "import asyncio\nasync with asyncio.TaskGroup() as tg:\n    a = tg.create_task(t.slow(1))\n    \
             b = tg.create_task(t.slow(2))\n[a.result(), b.result()]",
            json!([1, 2]),
        ),
        (
            "semaphore",
            "import asyncio\nsem = asyncio.Semaphore(2)\nasync def one(c):\n    async with sem:\n        return await c\n\
             await asyncio.gather(*[one(t.slow(i)) for i in range(4)])",
            json!([0, 1, 2, 3]),
        ),
        (
            "as_completed",
            "import asyncio\nout = []\nfor c in asyncio.as_completed([t.slow(i) for i in range(3)]):\n    out.append(await c)\n\
             sorted(out)",
            json!([0, 1, 2]),
        ),
        (
            "wait",
            "import asyncio\ndone, pending = await asyncio.wait([t.slow(i) for i in range(3)])\nsorted(d.result() for d in done)",
            json!([0, 1, 2]),
        ),
        (
            "pool map",
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    \
             r = list(pool.map(t.slow, range(4)))\nr",
            json!([0, 1, 2, 3]),
        ),
        (
            "pool submit",
            "from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor(max_workers=3) as pool:\n    \
             fs = [pool.submit(t.slow, i) for i in range(3)]\nsorted(f.result() for f in as_completed(fs))",
            json!([0, 1, 2]),
        ),
        (
            "threads",
            "import threading\nout = []\ndef go(i):\n    out.append(t.slow(i))\nts = [threading.Thread(target=go, args=(i,)) for i in range(3)]\n\
             [x.start() for x in ts]\n[x.join() for x in ts]\nsorted(out)",
            json!([0, 1, 2]),
        ),
        (
            "to_thread",
            "import asyncio\nawait asyncio.gather(*[asyncio.to_thread(t.slow, i) for i in range(3)])",
            json!([0, 1, 2]),
        ),
        (
            "executor",
            "import asyncio\nloop = asyncio.get_event_loop()\nawait asyncio.gather(*[loop.run_in_executor(None, t.slow, i) for i in range(3)])",
            json!([0, 1, 2]),
        ),
        (
            "dict of tasks",
            "import asyncio\nts = {k: asyncio.create_task(t.slow(k)) for k in 'ab'}\nawait asyncio.sleep(0)\n{k: await v for k, v in ts.items()}",
            json!({"a": "a", "b": "b"}),
        ),
    ];
    for (name, source, expected) in cases {
        let (value, most, elapsed) = overlap(source).await;
        assert_eq!(&value, expected, "{name}");
        assert!(most >= 2, "{name}: at most {most} concurrent calls ({elapsed:?})");
    }
}

#[tokio::test]
async fn run_3_5_calls_that_do_not_overlap_work() {
    let sandbox = sandbox();
    for (source, expected) in [
        ("[t.value(i) for i in range(3)]", json!([0, 1, 2])),
        ("await t.value(1)", json!(1)),
        ("x = t.value(1)\ny = x + 1\nawait x", json!(1)),
        ("c = t.value(1)\nd = t.value(2)\n[await c, await d]", json!([1, 2])),
        ("import asyncio\nawait asyncio.gather(1, t.value(2))", json!([1, 2])),
        ("import asyncio\nawait asyncio.wait_for(t.value(5), timeout=1)", json!(5)),
        ("import asyncio\nasync def f():\n    return t.value(3)\nasyncio.run(f())", json!(3)),
        ("async def f():\n    return await t.value(3)\nf()", json!(3)),
        (
            "import asyncio\nasync def g():\n    for i in range(3):\n        yield await t.value(i)\n[x async for x in g()]",
            json!([0, 1, 2]),
        ),
        ("import asyncio\nq = asyncio.Queue()\nawait q.put(t.value(1))\nawait q.get()", json!(1)),
        (
            "import asyncio\ntry:\n    await asyncio.wait_for(t.hang(), timeout=0.05)\nexcept asyncio.TimeoutError:\n    r = 'late'\nr",
            json!("late"),
        ),
        (
            "import asyncio\nr = await asyncio.gather(t.value(1), t.fail(), return_exceptions=True)\n[r[0], type(r[1]).__name__]",
            json!([1, "ToolError"]),
        ),
        ("import asyncio\nasync with asyncio.timeout(5):\n    r = await t.value(7)\nr", json!(7)),
        ("if __name__ == '__main__':\n    r = t.value(1)\nr", json!(1)),
        ("import asyncio\nr = asyncio.get_event_loop().run_until_complete(t.value(4))\nr", json!(4)),
    ] {
        assert_eq!(value(&sandbox, source).await, expected, "{source}");
    }
}

#[tokio::test]
async fn exceptions_under_await_name_the_users_line() {
    let sandbox = sandbox();
    let source = "import asyncio\nasync def main():\n    await asyncio.gather(t.value(1),\n        t.fail())\nawait main()";
    let (kind, message, line) = exception(&sandbox, source).await;
    assert_eq!((kind.as_str(), message.as_str(), line), ("ToolError", "t.fail: it is broken", Some(3)));
}

#[tokio::test]
async fn s5_dropping_a_run_drops_its_calls() {
    let sandbox = sandbox();
    let host = Arc::new(TestHost::default());
    sandbox.warm().await.unwrap();
    let limits = limits();
    let long = run_with(&sandbox, "t.hang()", &limits, host.clone());
    assert!(tokio::time::timeout(Duration::from_millis(700), long).await.is_err());
    assert_eq!(host.calls.lock().unwrap().len(), 1);
    assert_eq!(host.dropped.load(Ordering::SeqCst), 1);
    assert!(run(&sandbox, "1").await.is_ok());
}

#[tokio::test]
async fn large_results_and_arguments_are_supported() {
    let sandbox = sandbox();
    assert_eq!(value(&sandbox, "len(t.big(20_000_000))").await, json!(20_000_000));
    assert_eq!(value(&sandbox, "len(t.value('y' * 5_000_000))").await, json!(5_000_000));
    let source = "import asyncio\nsum(len(x) for x in await asyncio.gather(*[t.value('z' * 1_000_000) for _ in range(8)]))";
    assert_eq!(value(&sandbox, source).await, json!(8_000_000));
    assert!(
        matches!(run(&sandbox, "t.value('y' * 60_000_000)").await, Err(RunError::Exception { kind, .. }) if kind == "ValueError")
    );
}
