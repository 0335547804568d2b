//! A sandbox with the real worker, and a host with a few tools.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use onetool_sandbox::{
    Completion, Host, HostCall, HostError, HostReply, Input, Limits, NameKind, Outcome, Program, RunError,
    Sandbox, SlotLimits, Slots, WorkerCommand,
};
use serde_json::{Value, json};

/// Creates a sandbox; starts no process yet.
pub(crate) fn sandbox() -> Sandbox {
    let program = env!("CARGO_BIN_EXE_onetool-sandbox-worker").into();
    sandbox_with(WorkerCommand { program, args: Vec::new() })
}

/// Creates a sandbox with the given worker and enough slots for any test.
pub(crate) fn sandbox_with(worker: WorkerCommand) -> Sandbox {
    let slots = SlotLimits { running: 64, memory: 64 << 30, waiting: 64 };
    Sandbox::new(worker, Arc::new(Slots::new(slots)))
}

/// The default limits, with a shorter time limit.
pub(crate) fn limits() -> Limits {
    Limits { time: Duration::from_secs(20), ..Limits::default() }
}

/// A host with the packs `t` and `web` and the flat tool `t_echo`.
#[derive(Default)]
pub(crate) struct TestHost {
    pub(crate) calls: Mutex<Vec<HostCall>>,
    pub(crate) requested_names: Mutex<Vec<String>>,
    in_flight: AtomicU32,
    pub(crate) most_in_flight: AtomicU32,
    pub(crate) dropped: Arc<AtomicU32>,
}

impl Host for TestHost {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        let known: HashMap<&str, NameKind> = HashMap::from([
            ("t", NameKind::Pack),
            ("web", NameKind::Pack),
            ("t_echo", NameKind::Tool),
            ("brvae", NameKind::Unknown { hint: Some("Did you mean: brave?".to_owned()) }),
        ]);
        let kinds = names
            .iter()
            .map(|name| known.get(name.as_str()).cloned().unwrap_or(NameKind::Unknown { hint: None }))
            .collect();
        self.requested_names.lock().unwrap().extend(names);
        Box::pin(async move { kinds })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>> {
        self.calls.lock().unwrap().push(call.clone());
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        let mut guard = CountDrop { counter: Some(self.dropped.clone()) };
        Box::pin(async move {
            let guard = &mut guard;
            let result = execute(call).await;
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            guard.counter = None;
            result.map(HostReply::from)
        })
    }
}

struct CountDrop {
    counter: Option<Arc<AtomicU32>>,
}

impl Drop for CountDrop {
    fn drop(&mut self) {
        if let Some(counter) = &self.counter {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn execute(call: HostCall) -> Result<Value, HostError> {
    let first = call.args.first().cloned().unwrap_or(Value::Null);
    match call.name.as_str() {
        "t.echo" | "t_echo" => Ok(json!({"args": call.args, "kwargs": call.kwargs})),
        "t.value" => Ok(first),
        "t.slow" => {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(first)
        }
        "t.hang" => std::future::pending().await,
        "t.fail" => Err(HostError::tool("t.fail: it is broken")),
        "t.big" => Ok(Value::String("x".repeat(usize::try_from(first.as_u64().unwrap_or(0)).unwrap()))),
        "t.deep" => Ok((0..500).fold(Value::Null, |inner, _| json!([inner]))),
        "t.wrong" => Err(HostError { kind: "TypeError".to_owned(), message: "t.wrong(q: str)".to_owned() }),
        name => Err(HostError {
            kind: "AttributeError".to_owned(),
            message: format!("no tool '{name}'. Near: t.echo"),
        }),
    }
}

/// Runs `source` with the default limits and host.
pub(crate) async fn run(sandbox: &Sandbox, source: &str) -> Result<Outcome, RunError> {
    run_with(sandbox, source, &limits(), Arc::new(TestHost::default())).await
}

pub(crate) async fn run_with(
    sandbox: &Sandbox,
    source: &str,
    limits: &Limits,
    host: Arc<TestHost>,
) -> Result<Outcome, RunError> {
    let program = Program {
        source: source.to_owned(),
        file_name: "main.py".to_owned(),
        input: Input::Nothing,
        depth: 0,
    };
    sandbox.run(program, limits, host).await
}

/// Runs `source` and returns its value.
pub(crate) async fn value(sandbox: &Sandbox, source: &str) -> Value {
    match run(sandbox, source).await {
        Ok(Outcome { value: Completion::Value(value), .. }) => serde_json::from_str(&value).unwrap(),
        other => panic!("{source}\n{other:#?}"),
    }
}

/// Runs `source` and returns the type, message and line of its exception.
pub(crate) async fn exception(sandbox: &Sandbox, source: &str) -> (String, String, Option<u32>) {
    match run(sandbox, source).await {
        Err(RunError::Exception { kind, message, line, .. }) => (kind, message, line),
        other => panic!("{source}\n{other:#?}"),
    }
}
