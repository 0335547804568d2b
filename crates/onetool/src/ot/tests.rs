//! Tests of the pack's tools, on a small gateway.

mod help;
mod listing;
mod management;
mod result;
mod spans;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use insta::assert_snapshot;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{
    BoxFuture, CallContext, Json, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, dynamic_tool, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::spans::CapturedSpans;
use super::*;
use crate::config::{Config, SearchConfig, TopicConfig};
use crate::notify::{self, Notified, NotifyError};
use crate::render::brv_research;
use crate::search::Finder;
use onetool_core::ToolDocs;
use onetool_core::clock::{Clock, Timestamp};
use onetool_packs::ProtectedFiles;
use onetool_run::shortcuts::{Aliases, Snippets};
use onetool_server::Server;
use onetool_server::catalog::{Rules, Source};
use onetool_server::dispatch::CallError;
use onetool_store::MemoryStore;
use onetool_store::results::{OutputOptions, QueryError, ResultBody, ResultPage, ResultQuery, ResultStore};

/// A fake gateway that records the queries for statistics.
struct TestHost {
    results: ResultStore,
    clock: Clock,
    topics: Vec<TopicConfig>,
    broken_config: Option<String>,
    stats_error: Option<StatsError>,
    queries: Mutex<Vec<String>>,
}

impl Default for TestHost {
    fn default() -> Self {
        let clock = Clock::fake(Timestamp::from_millis(0));
        let store = Arc::new(MemoryStore::default());
        let results = ResultStore::new(store, clock.clone(), OutputOptions::default());
        let (topics, queries) = (Vec::new(), Mutex::default());
        Self { results, clock, topics, broken_config: None, stats_error: None, queries }
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl OtHost for TestHost {
    fn reload(&self) -> BoxFuture<'_, Result<Reloaded, String>> {
        ready(self.broken_config.clone().map_or(Ok(Reloaded::default()), Err))
    }

    fn stats<'a>(
        &'a self,
        query: StatsQuery,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Value, StatsError>> {
        self.queries.lock().unpoisoned().push(format!("{query:?}"));
        let stats = json!({"total_calls": 2, "success_rate": 50.0, "tools": {"demo.foo": {"calls": 2}}});
        ready(self.stats_error.clone().map_or(Ok(stats), Err))
    }

    fn result<'a>(
        &'a self,
        query: ResultQuery,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ResultPage, QueryError>> {
        Box::pin(self.results.query(cx.caller(), query))
    }

    fn load<'a>(&'a self, handle: String, cx: &'a CallContext) -> BoxFuture<'a, Result<Value, QueryError>> {
        Box::pin(async move { self.results.load(cx.caller(), &handle.into()).await })
    }

    fn notify(&self, topic: String, message: String) -> BoxFuture<'_, Result<Notified, NotifyError>> {
        ready(notify::append(
            &self.topics,
            &topic,
            &message,
            Timestamp::from_millis(0),
            &ProtectedFiles::default(),
        ))
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Search {
    /// What to search for.
    query: String,
    /// Number of results.
    #[serde(default = "five")]
    count: u32,
}

fn five() -> u32 {
    5
}

struct Gateway {
    server: Server,
    host: Arc<TestHost>,
}

/// Settings of the gateway that tests change.
#[derive(Default)]
struct Setup {
    host: TestHost,
    is_bare: bool,
    servers: Vec<ServerState>,
    failed_packs: Vec<FailedPack>,
    /// Names of additional tools.
    more_tools: Vec<String>,
}

fn demo_tools() -> Vec<Arc<dyn Tool>> {
    let text = |_: JsonObject, _: CallContext| async { "" };
    let search = |_: Search, _: CallContext| async { Json(vec![String::new()]) };
    let search = tool_fn("brave.web_search", "Search the web.\nWith care.\n\nSecond paragraph.", search);
    vec![
        Arc::new(search.output::<Vec<String>>()),
        Arc::new(dynamic_tool(ToolSpec::new("web.fetch", "Fetch a page."), text)),
        Arc::new(dynamic_tool(ToolSpec::new("web.fetch_batch", "Fetch several pages."), text)),
        Arc::new(dynamic_tool(ToolSpec::new("demo.foo", "Does foo."), text)),
        Arc::new(dynamic_tool(ToolSpec::new("bare", "Belongs to no pack."), text)),
    ]
}

fn gateway_with(setup: Setup) -> Gateway {
    let server = Server::builder().reserved(&["ot"]).build().unwrap();
    let Setup { host, is_bare, servers, failed_packs, more_tools } = setup;
    for name in more_tools {
        let spec = ToolSpec::new(name, "One of many.");
        let tool = dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" });
        server.add_tool(Arc::new(tool), Source::Code).unwrap();
    }
    let mut config = Config::default();
    if !is_bare {
        for tool in demo_tools() {
            server.add_tool(tool, Source::Code).unwrap();
        }
        config.docs.packs.insert("web".into(), "Fetch pages politely.\n\nOne at a time.".into());
    }
    let surface = ToolSpec::new("run", "Runs code.");
    let surface = dynamic_tool(surface, |_: JsonObject, _: CallContext| async { "" });
    server.add_tool(Arc::new(surface), Source::Surface).unwrap();
    let mut docs = ToolDocs::default();
    docs.examples =
        vec!["brave.web_search(query=\"rust\")".into(), "brave.web_search(query=\"mcp\", count=1)".into()];
    docs.keywords = vec!["news".into()];
    server
        .shared_catalog()
        .replace(|catalog| {
            let docs = [("brave.web_search".to_owned(), docs)].into();
            let mut rules = Rules::default();
            rules.docs = docs;
            catalog.set_rules(rules);
            Ok::<_, ()>(())
        })
        .unwrap();
    let catalog = server.catalog();
    let targets = [("ws", "brave.web_search"), ("alias_f", "demo.foo"), ("search", "ws")];
    let targets = targets.map(|(alias, target)| (alias.to_owned(), target.to_owned()));
    let find = |name: &str| catalog.resolve(name).map(|entry| entry.name().clone());
    let aliases = if is_bare { Aliases::default() } else { Aliases::new(targets.into(), find).unwrap() };
    let snippets =
        if is_bare { Snippets::default() } else { Snippets::default().with_shipped(vec![brv_research()]) };
    let (config, aliases, snippets) = (Arc::new(config), Arc::new(aliases), Arc::new(snippets));
    let host = Arc::new(host);
    let (weak, hook) = (server.downgrade(), host.clone());
    let finder =
        Arc::new(Finder::new(Arc::new(MemoryStore::default()), Clock::system(), SearchConfig::default()));
    let context = move || {
        Some(OtContext {
            catalog: weak.upgrade()?.catalog(),
            config: config.clone(),
            aliases: aliases.clone(),
            snippets: snippets.clone(),
            servers: servers.clone(),
            failed_packs: failed_packs.clone(),
            storage_problem: None,
            storage_size: None,
            version: "0.1.0".into(),
            python: "3.14.0".into(),
            cwd: "/srv/agent".into(),
            finder: finder.clone(),
            host: hook.clone(),
        })
    };
    register(&server, context).unwrap();
    Gateway { server, host }
}

fn gateway() -> Gateway {
    gateway_with(Setup::default())
}

impl Gateway {
    async fn call(&self, function: &str, args: Value) -> Result<ToolOutput, CallError> {
        let args = args.as_object().cloned().unwrap();
        self.server.call(&format!("ot.{function}"), args, CallContext::detached()).await
    }

    async fn text(&self, function: &str, args: Value) -> String {
        let output = self.call(function, args).await.unwrap_or_else(|error| panic!("{error}"));
        assert!(!output.is_error);
        output.content[0].as_text().unwrap().to_owned()
    }

    /// Returns the text of an error result.
    async fn error(&self, function: &str, args: Value) -> String {
        let output = self.call(function, args).await.unwrap_or_else(|error| panic!("{error}"));
        assert!(output.is_error);
        output.content[0].as_text().unwrap().to_owned()
    }

    async fn data(&self, function: &str, args: Value) -> Value {
        let output = self.call(function, args).await.unwrap_or_else(|error| panic!("{error}"));
        output.structured_content.unwrap()
    }

    async fn raised(&self, function: &str, args: Value) -> (String, String) {
        match self.call(function, args).await {
            Err(CallError::Failed { error: ToolError::Raised { kind, message }, .. }) => {
                (kind.into_owned(), message)
            }
            other => panic!("{other:?}"),
        }
    }

    async fn stored(&self, body: ResultBody) -> String {
        let stored = self.host.results.put(CallContext::detached().caller(), body).await.unwrap();
        stored.handle.to_string()
    }

    /// Returns the recorded queries for statistics.
    fn queries(&self) -> String {
        self.host.queries.lock().unpoisoned().join("\n")
    }
}

const OT: [&str; 13] = [
    "tools", "packs", "aliases", "snippets", "help", "config", "health", "version", "result", "load",
    "stats", "notify", "reload",
];

/// Returns a gateway with a stored result of 300 lines; every hundredth one is an error.
async fn with_stored() -> (Gateway, String) {
    let gateway = gateway();
    let line = |n: u32| if n.is_multiple_of(100) { format!("error {n}") } else { format!("line {n}") };
    let text = (1..=300).map(line).collect::<Vec<_>>().join("\n");
    let handle = gateway.stored(ResultBody::Text(text)).await;
    (gateway, handle)
}
