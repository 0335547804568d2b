//! S5 and RUN-6.4: a client that cancels or disconnects stops its code and the code's in-flight calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use onetool::{CallContext, Gateway, tool_fn};
use onetool_testkit::{Client, Era};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::ways::{Connected, Ways, run};
use crate::{Text, gateway_with_run};

/// The number of calls to `demo.hang` that started, and of those that were dropped.
#[derive(Default)]
struct Seen {
    started: AtomicU32,
    dropped: AtomicU32,
    changed: Notify,
}

/// Records when the handler that holds it is dropped.
struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

impl Seen {
    /// Waits until this number of calls have started and been dropped.
    async fn wait_for(&self, started: u32, dropped: u32) {
        let reached = async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if self.started.load(Ordering::SeqCst) >= started
                    && self.dropped.load(Ordering::SeqCst) >= dropped
                {
                    return;
                }
                changed.await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), reached).await;
        assert!(
            in_time.is_ok(),
            "{started} calls should start and {dropped} be dropped: {:?}, {:?}",
            self.started,
            self.dropped
        );
    }
}

fn gateway(folder: &TempDir) -> (Gateway, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let noticed = seen.clone();
    let gateway = gateway_with_run(folder.path(), "run: {timeout: 60}", move |server| {
        let hang = tool_fn("demo.hang", "Never returns.", move |_: Text, _: CallContext| {
            let guard = Guard(noticed.clone());
            guard.0.started.fetch_add(1, Ordering::SeqCst);
            guard.0.changed.notify_waiters();
            async move {
                let _guard = guard;
                std::future::pending::<String>().await
            }
        });
        server.register_tool(hang).unwrap();
    });
    (gateway, seen)
}

/// Two concurrent calls, then code that would run forever.
const CODE: &str = "\
import asyncio
await asyncio.gather(demo.hang(text='a'), demo.hang(text='b'))
while True: demo.hang(text='c')";

/// Returns the processes that were forked for runs of this thread's gateways.
fn children_of_zygotes() -> Vec<String> {
    let tid = rustix::thread::gettid().as_raw_nonzero();
    let list = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let children_of = |processes: String| -> Vec<String> {
        let children = processes.split_whitespace().map(|it| list(format!("/proc/{it}/task/{it}/children")));
        children.flat_map(|it| it.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
    };
    // The parent of each is the process that put it into its namespaces.
    let zygotes = children_of(list(format!("/proc/self/task/{tid}/children")));
    children_of(zygotes.join(" "))
}

/// Waits for this number of children: a spare one for the next run, and one for each run.
async fn wait_for_children(count: usize, way: &str) {
    let reached = async {
        while children_of_zygotes().len() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(30), reached).await;
    assert!(in_time.is_ok(), "{way}: expected {count} children, found {:?}", children_of_zygotes());
}

#[tokio::test]
async fn run_6_4_s5_a_canceled_run_stops_with_its_in_flight_calls() {
    let folder = TempDir::new().unwrap();
    let (gateway, seen) = gateway(&folder);
    let (mut started, mut dropped) = (0, 0);
    for Connected { client, way, .. } in Ways::to(gateway.server()).await.all().await {
        (started, dropped) = (started + 2, dropped + 2);
        client
            .call_and_cancel("run", json!({"command": CODE}), async {
                seen.wait_for(started, 0).await;
                wait_for_children(2, &way).await;
            })
            .await;
        seen.wait_for(started, dropped).await;
        wait_for_children(1, &way).await;
        assert_eq!(seen.started.load(Ordering::SeqCst), started, "{way}: no further call was made");
        assert_eq!(run(&client, "x = 1\nx + 1").await, "2", "{way}");
    }
}

#[tokio::test]
async fn s5_a_literal_call_stops_too() {
    let folder = TempDir::new().unwrap();
    let (gateway, seen) = gateway(&folder);
    let client = Client::connect(gateway.server()).await;
    let command = json!({"command": "demo.hang(text='a')"});
    client.call_and_cancel("run", command, seen.wait_for(1, 0)).await;
    seen.wait_for(1, 1).await;
}

/// For stdio, see `serve_stdio.rs` in `onetool-cli`, which checks the process.
#[tokio::test]
async fn run_6_4_s5_a_client_that_disconnects_stops_its_code() {
    let folder = TempDir::new().unwrap();
    let (gateway, seen) = gateway(&folder);
    let ways = Ways::to(gateway.server()).await;
    for (era, calls) in [(Era::Stateless, 2), (Era::Sessions, 4)] {
        let client = ways.http(era).await;
        let way = format!("{era:?}");
        let in_flight = async {
            seen.wait_for(calls, 0).await;
            wait_for_children(2, &way).await;
        };
        tokio::select! {
            text = run(&client, CODE) => panic!("{way}: {text}"),
            () = in_flight => {}
        }
        // This client ends its session explicitly. A broken connection alone does not end one over HTTP.
        client.close().await;
        seen.wait_for(calls, calls).await;
        wait_for_children(1, &way).await;
    }
}
