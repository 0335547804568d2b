//! S5 and RUN-6.4: a client that cancels or goes away stops its code, and the calls that the code has under way.

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

/// How many calls of `demo.hang` began, and how many of them were dropped before their end.
#[derive(Default)]
struct Seen {
    began: AtomicU32,
    dropped: AtomicU32,
    news: Notify,
}

/// Notices that the handler it stands in is dropped.
struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
        self.0.news.notify_waiters();
    }
}

impl Seen {
    /// Waits until so many calls began and were dropped.
    async fn wait_for(&self, began: u32, dropped: u32) {
        let reached = async {
            loop {
                let mut news = std::pin::pin!(self.news.notified());
                news.as_mut().enable();
                if self.began.load(Ordering::SeqCst) >= began
                    && self.dropped.load(Ordering::SeqCst) >= dropped
                {
                    return;
                }
                news.await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), reached).await;
        assert!(
            in_time.is_ok(),
            "{began} calls should begin and {dropped} be dropped: {:?}, {:?}",
            self.began,
            self.dropped
        );
    }
}

fn gateway(folder: &TempDir) -> (Gateway, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let noticed = seen.clone();
    let gateway = gateway_with_run(folder.path(), "run: {timeout: 60}", move |server| {
        let hang = tool_fn("demo.hang", "Never answers.", move |_: Text, _: CallContext| {
            let guard = Guard(noticed.clone());
            guard.0.began.fetch_add(1, Ordering::SeqCst);
            guard.0.news.notify_waiters();
            async move {
                let _guard = guard;
                std::future::pending::<String>().await
            }
        });
        server.register_tool(hang).unwrap();
    });
    (gateway, seen)
}

/// Two calls at once, then code that would run on if it could.
const CODE: &str = "\
import asyncio
await asyncio.gather(demo.hang(text='a'), demo.hang(text='b'))
while True: demo.hang(text='c')";

/// Gives the processes that were forked for runs of this thread's gateways.
fn children_of_zygotes() -> Vec<String> {
    let tid = rustix::thread::gettid().as_raw_nonzero();
    let list = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let children_of = |processes: String| -> Vec<String> {
        let children = processes.split_whitespace().map(|it| list(format!("/proc/{it}/task/{it}/children")));
        children.flat_map(|it| it.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
    };
    // In front of each is the process that put it into its namespaces.
    let zygotes = children_of(list(format!("/proc/self/task/{tid}/children")));
    children_of(zygotes.join(" "))
}

/// Waits until so many children are there: one waits for the next run, and each run has one more.
async fn wait_for_children(count: usize, way: &str) {
    let reached = async {
        while children_of_zygotes().len() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(30), reached).await;
    assert!(in_time.is_ok(), "{way}: {count} children should be there: {:?}", children_of_zygotes());
}

#[tokio::test]
async fn run_6_4_s5_a_cancelled_run_stops_with_its_calls_in_flight() {
    let folder = TempDir::new().unwrap();
    let (gateway, seen) = gateway(&folder);
    let (mut began, mut dropped) = (0, 0);
    for Connected { client, way, .. } in Ways::to(gateway.server()).await.all().await {
        (began, dropped) = (began + 2, dropped + 2);
        client
            .call_and_cancel("run", json!({"command": CODE}), async {
                seen.wait_for(began, 0).await;
                wait_for_children(2, &way).await;
            })
            .await;
        seen.wait_for(began, dropped).await;
        wait_for_children(1, &way).await;
        assert_eq!(seen.began.load(Ordering::SeqCst), began, "{way}: nothing was called after that");
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

/// Over stdio it is the process that shows it: `onetool-cli`, `serve_stdio.rs`.
#[tokio::test]
async fn run_6_4_s5_a_client_that_goes_away_stops_its_code() {
    let folder = TempDir::new().unwrap();
    let (gateway, seen) = gateway(&folder);
    let ways = Ways::to(gateway.server()).await;
    for (era, calls) in [(Era::Stateless, 2), (Era::Sessions, 4)] {
        let client = ways.http(era).await;
        let way = format!("{era:?}");
        let under_way = async {
            seen.wait_for(calls, 0).await;
            wait_for_children(2, &way).await;
        };
        tokio::select! {
            text = run(&client, CODE) => panic!("{way}: {text}"),
            () = under_way => {}
        }
        // A session over HTTP ends when the client says so, as this one does; a connection may break and come back.
        client.close().await;
        seen.wait_for(calls, calls).await;
        wait_for_children(1, &way).await;
    }
}
