//! Runs a program many times without a gateway, for `cargo xtask bench run`: `bare_run COUNT CODE WORKER [ARGUMENT…]`.
//!
//! Prints the time of each run in nanoseconds: a fork, the program, its result, and the end of the child's socket.
#![expect(clippy::print_stdout, reason = "the benchmark reads the times")]

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use onetool_sandbox::{
    Host, HostCall, HostError, HostReply, Input, Limits, NameKind, Program, Sandbox, Slots, WorkerCommand,
};

/// A host without tools.
struct NoTools;

impl Host for NoTools {
    fn names(&self, names: Vec<String>) -> onetool::BoxFuture<'_, Vec<NameKind>> {
        Box::pin(async move { names.iter().map(|_| NameKind::Unknown { hint: None }).collect() })
    }

    fn call(&self, call: HostCall) -> onetool::BoxFuture<'_, Result<HostReply, HostError>> {
        Box::pin(async move { Err(HostError::tool(format!("no tool '{}'", call.name))) })
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mut next = |what: &str| arguments.next().with_context(|| format!("missing {what}"));
    let count: usize = next("COUNT")?.to_string_lossy().parse()?;
    let source = next("CODE")?.to_string_lossy().into_owned();
    let worker = WorkerCommand { program: next("WORKER")?.into(), args: arguments.collect() };
    let sandbox = Sandbox::new(worker, Arc::new(Slots::default()));
    sandbox.warm().await?;
    for _ in 0..count {
        let program = Program {
            source: source.clone(),
            file_name: "run.py".to_owned(),
            input: Input::Nothing,
            depth: 0,
        };
        let start = Instant::now();
        sandbox.run(program, &Limits::default(), Arc::new(NoTools)).await?;
        println!("{}", start.elapsed().as_nanos());
    }
    Ok(())
}
