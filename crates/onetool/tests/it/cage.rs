//! The cage around code and documents, as a client of the gateway sees it.

use std::fs;

use onetool::{CallContext, Gateway, Server, SourceState, tool_fn};
use onetool_testkit::{Client, worker, worker_without};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::ways::run;
use crate::{Text, config, gateway_with_run, options};

/// Returns the peak memory of this process in bytes.
pub(crate) fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn h3_a_hostile_description_affects_only_itself() {
    let folder = TempDir::new().unwrap();
    // Forty times as large in memory as on disk.
    let schema = format!("{{\"enum\": [{}0]}}", "0,".repeat(8_000_000));
    let parameter = format!("{{\"name\": \"a\", \"in\": \"query\", \"schema\": {schema}}}");
    let wide = format!(
        "{{\"openapi\": \"3.0.0\", \"paths\": {{\"/a\": {{\"parameters\": [{parameter}], \"get\": {{}}}}}}}}"
    );
    let deep = format!("openapi: 3.0.0\npaths: {{}}\nx: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    fs::write(folder.path().join("wide.json"), wide).unwrap();
    fs::write(folder.path().join("deep.yaml"), deep).unwrap();
    fs::write(
        folder.path().join("good.yaml"),
        "openapi: 3.0.0\nservers: [{url: 'https://93.184.215.14'}]\npaths: {/a: {get: {operationId: getA}}}\n",
    )
    .unwrap();
    let yaml = "openapi: {wide: {spec: wide.json}, deep: {spec: deep.yaml}, good: {spec: good.yaml}}";
    let before = peak_memory();
    let gateway = gateway_with_run(folder.path(), yaml, |_| {});
    gateway.connected().await;
    for report in gateway.sources() {
        match (report.name.as_str(), &report.state) {
            ("good", SourceState::Connected) => {}
            ("wide" | "deep", SourceState::Failed { reason }) => {
                assert!(reason.contains(&report.name), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(gateway.server().catalog().resolve("good.get_a").is_ok());
    let grown = peak_memory().saturating_sub(before) >> 20;
    assert!(grown < 300, "reading hostile descriptions took {grown} MB in this process");
}

fn gateway_with_worker(folder: &TempDir, yaml: &str, worker: onetool::WorkerCommand) -> Gateway {
    let mut options = options();
    options.worker = Some(worker);
    options.directory = folder.path().into();
    Gateway::new(config(folder.path(), yaml), options).unwrap()
}

#[tokio::test]
async fn cage_2_code_is_rejected_without_the_cage_if_it_is_required() {
    let folder = TempDir::new().unwrap();
    let without_landlock = || worker_without("landlock_create_ruleset", libc::ENOSYS);
    let gateway = gateway_with_worker(&folder, "run: {require_cage: true}", without_landlock());
    let client = Client::connect(gateway.server()).await;
    assert_eq!(
        run(&client, "x = 1\nx").await,
        "error: cannot start the Python worker: run.require_cage is set, but this system does not support Landlock"
    );
    let gateway = gateway_with_worker(&folder, "", without_landlock());
    let client = Client::connect(gateway.server()).await;
    assert_eq!(
        run(&client, "x = 1\nx").await,
        "1",
        "a kernel without Landlock can run code, and `check` reports it"
    );
    assert_eq!(gateway.sandbox_gaps().await.as_deref(), Some("this system does not have Landlock"));
    let gateway = gateway_with_worker(&folder, "run: {require_cage: true}", worker());
    let client = Client::connect(gateway.server()).await;
    assert_eq!(run(&client, "x = 1\nx").await, "1");
}

#[tokio::test]
async fn cage_1_code_does_not_run_if_a_layer_that_the_kernel_has_cannot_be_applied() {
    let folder = TempDir::new().unwrap();
    for call in ["seccomp", "landlock_restrict_self", "capset"] {
        let gateway =
            gateway_with_worker(&folder, "run: {require_cage: false}", worker_without(call, libc::EPERM));
        let client = Client::connect(gateway.server()).await;
        let text = run(&client, "x = 1\nx").await;
        assert!(text.starts_with("error: cannot start the Python worker"), "{call}: {text}");
    }
}

/// Releases calls to `demo.wait`.
static GATE: Semaphore = Semaphore::const_new(0);

#[tokio::test]
async fn h9_programs_beyond_the_limit_wait_and_the_queue_is_bounded() {
    let folder = TempDir::new().unwrap();
    let register = |server: &Server| {
        let tool = tool_fn("demo.wait", "Waits.", |args: Text, _: CallContext| async move {
            GATE.acquire().await.unwrap().forget();
            args.text
        });
        server.register_tool(tool).unwrap();
    };
    let gateway = gateway_with_run(folder.path(), "run: {max_concurrent: 2, max_waiting: 1}", register);
    gateway.warm().await;
    let client = Client::connect(gateway.server()).await;
    let waits = |text: &'static str| run(&client, format!("x = demo.wait(text='{text}')\nx").leak());
    let refused = async {
        // Wait until the other three have arrived: two run, one waits.
        loop {
            let text = run(&client, "x = 1\nx").await;
            if text.starts_with("error") {
                GATE.add_permits(3);
                return text;
            }
        }
    };
    let (first, second, third, refused) = tokio::join!(waits("a"), waits("b"), waits("c"), refused);
    assert_eq!([first, second, third], ["a", "b", "c"]);
    assert_eq!(refused, "error: too many concurrent programs: 1 already waiting; retry later");
    assert_eq!(run(&client, "x = 1\nx").await, "1");
}

#[tokio::test]
async fn h5_results_that_code_loads_repeatedly_do_not_stay_in_memory() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), "run: {timeout: 60}", |_| {});
    let client = Client::connect(gateway.server()).await;
    let stored = run(&client, "x = ['%d' % i * 100 for i in range(8000)]\nx").await;
    let handle = serde_json::from_str::<serde_json::Value>(&stored).unwrap()["handle"].clone();
    let load = format!("n = 0\nfor _ in range(2): n += len(ot.load(handle={handle}))\nn");
    assert_eq!(run(&client, &load).await, "16000");
    let before = peak_memory();
    let load = load.replace("range(2)", "range(12)");
    assert_eq!(run(&client, &load).await, "96000");
    let grown = peak_memory().saturating_sub(before) >> 20;
    assert!(grown < 30, "loading 3 MB a dozen times took {grown} MB more than loading it twice");
}

#[tokio::test]
async fn h5_a_large_result_is_not_held_as_a_tree() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), "run: {timeout: 60, memory_mb: 1024}", |_| {});
    let client = Client::connect(gateway.server()).await;
    run(&client, "x = 1\nx").await;
    let before = peak_memory();
    // Forty times as large in memory as in JSON.
    let stored = run(&client, "x = [0] * 5_000_000\nx").await;
    assert!(stored.contains("JSON array of 5000000 items"), "{stored}");
    let grown = peak_memory().saturating_sub(before) >> 20;
    assert!(grown < 200, "a result of 10 MB took {grown} MB");
}

#[tokio::test]
async fn h3_documents_do_not_wait_for_programs() {
    let folder = TempDir::new().unwrap();
    let spec = "openapi: 3.0.0\nservers: [{url: 'https://93.184.215.14'}]\npaths: {/a: {get: {operationId: getA}}}\n";
    fs::write(folder.path().join("api.yaml"), spec).unwrap();
    let yaml = "run: {max_concurrent: 1, max_waiting: 0}\nopenapi: {api: {spec: api.yaml}}";
    let gateway = gateway_with_run(folder.path(), yaml, |server| {
        let hang = tool_fn("demo.hang", "Never returns.", |_: Text, _: CallContext| async {
            std::future::pending::<String>().await
        });
        server.register_tool(hang).unwrap();
    });
    let client = Client::connect(gateway.server()).await;
    tokio::select! {
        text = run(&client, "x = demo.hang(text='')\nx") => panic!("{text}"),
        () = gateway.connected() => {}
    }
    assert_eq!(
        client.call_text("run", json!({"command": "ot.tools(pattern='api.', info='list')"})).await,
        "[api.get_a]"
    );
}
