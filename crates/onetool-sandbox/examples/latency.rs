//! Measures the latency of runs: `cargo run --release --example latency`, which also builds the worker.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use onetool_sandbox::{
    Host, HostCall, HostError, HostReply, Input, Limits, NameKind, Program, Sandbox, Slots, WorkerCommand,
};
use serde_json::Value;

struct Echo;

impl Host for Echo {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        Box::pin(async move { names.iter().map(|_| NameKind::Pack).collect() })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>> {
        Box::pin(async move { Ok(Value::Array(call.args).into()) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let worker: PathBuf = std::env::current_exe()?
        .ancestors()
        .nth(2)
        .ok_or("the example is not in a target directory")?
        .join("onetool-sandbox-worker");
    let sandbox =
        Sandbox::new(WorkerCommand { program: worker, args: Vec::new() }, Arc::new(Slots::default()));
    let start = Instant::now();
    sandbox.warm().await?;
    println!("{:<32} {:>10.2?}", "zygote warm", start.elapsed());
    println!("{:<32} {:?}", "cage", sandbox.cage_report().await?);
    for (name, source) in [
        ("x = 1; x + 1", "x = 1; x + 1"),
        ("one call", "p.t(1)"),
        ("100 calls", "[p.t(i) for i in range(100)]"),
        ("gather of 10", "import asyncio\nawait asyncio.gather(*[p.t(i) for i in range(10)])"),
        ("loop of 100,000", "s = 0\nfor i in range(100_000):\n    s += i\ns"),
    ] {
        let mut times = Vec::new();
        for _ in 0..200 {
            let program = Program {
                source: source.to_owned(),
                file_name: "main.py".to_owned(),
                input: Input::Nothing,
                depth: 0,
            };
            let start = Instant::now();
            sandbox.run(program, &Limits::default(), Arc::new(Echo)).await?;
            times.push(start.elapsed());
        }
        times.sort();
        let percentile = |percent: usize| -> Duration { times[times.len() * percent / 100] };
        println!("{name:<32} median {:>10.2?}   p95 {:>10.2?}", percentile(50), percentile(95));
    }
    Ok(())
}
