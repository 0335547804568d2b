//! The pack through its tools, over a small gateway of the tests' own.

mod spans;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use insta::assert_snapshot;
use onetool_core::{
    BoxFuture, CallContext, Json, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, dynamic_tool, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::spans::CapturedSpans;
use super::*;
use crate::Server;
use crate::catalog::{Rules, Source, ToolDocs};
use crate::clock::{Clock, Timestamp};
use crate::config::{Config, SearchConfig, TopicConfig};
use crate::dispatch::CallError;
use crate::meta_tools::Finder;
use crate::notify::{self, Notified, NotifyError};
use crate::results::{QueryError, ResultBody, ResultOptions, ResultPage, ResultQuery, ResultStore};
use crate::shortcuts::tests::snippets;
use crate::shortcuts::{Aliases, Snippets};
use crate::storage::Storage;

/// Does what the gateway does, and remembers what it was asked.
struct TestHost {
    results: ResultStore,
    clock: Clock,
    topics: Vec<TopicConfig>,
    broken_config: Option<String>,
    stats_error: Option<StatsError>,
    asked: Mutex<Vec<String>>,
}

impl Default for TestHost {
    fn default() -> Self {
        let clock = Clock::fake(Timestamp::from_millis(0));
        let results = ResultStore::new(Storage::in_memory(), clock.clone(), ResultOptions::default());
        let (topics, asked) = (Vec::new(), Mutex::default());
        Self { results, clock, topics, broken_config: None, stats_error: None, asked }
    }
}

impl TestHost {
    fn remember(&self, asked: impl std::fmt::Debug) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{asked:?}"));
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl OtHost for TestHost {
    fn reload(&self) -> BoxFuture<'_, Result<(), String>> {
        ready(self.broken_config.clone().map_or(Ok(()), Err))
    }

    fn stats<'a>(
        &'a self,
        query: StatsQuery,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Value, StatsError>> {
        self.remember(query);
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
        ready(notify::append(&self.topics, &topic, &message, Timestamp::from_millis(0)))
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Search {
    /// What to search for.
    query: String,
    /// How many results.
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

/// What a test changes about the gateway.
#[derive(Default)]
struct Setup {
    host: TestHost,
    is_bare: bool,
    servers: Vec<ServerState>,
    failed_packs: Vec<FailedPack>,
}

fn demo_tools() -> Vec<Arc<dyn Tool>> {
    let text = |_: JsonObject, _: CallContext| async { "" };
    let search = |_: Search, _: CallContext| async { Json(vec![1]) };
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
    let Setup { host, is_bare, servers, failed_packs } = setup;
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
    let docs = ToolDocs {
        examples: vec![
            "brave.web_search(query=\"rust\")".into(),
            "brave.web_search(query=\"mcp\", count=1)".into(),
        ],
        keywords: vec!["news".into()],
        ..ToolDocs::default()
    };
    server
        .shared_catalog()
        .replace(|catalog| {
            let docs = [("brave.web_search".to_owned(), docs)].into();
            catalog.set_rules(Rules { docs, ..Rules::default() });
            Ok::<_, ()>(())
        })
        .unwrap();
    let catalog = server.catalog();
    let targets = [("ws", "brave.web_search"), ("alias_f", "demo.foo"), ("search", "ws")];
    let targets = targets.map(|(alias, target)| (alias.to_owned(), target.to_owned()));
    let find = |name: &str| catalog.resolve(name).map(|entry| entry.name().clone());
    let aliases = if is_bare { Aliases::default() } else { Aliases::new(targets.into(), find).unwrap() };
    let snippets = if is_bare { Snippets::default() } else { snippets() };
    let (config, aliases, snippets) = (Arc::new(config), Arc::new(aliases), Arc::new(snippets));
    let host = Arc::new(host);
    let (weak, hook) = (server.downgrade(), host.clone());
    let finder = Arc::new(Finder::new(Storage::in_memory(), Clock::system(), SearchConfig::default()));
    let context = move || {
        Some(OtContext {
            catalog: weak.upgrade()?.catalog(),
            config: config.clone(),
            aliases: aliases.clone(),
            snippets: snippets.clone(),
            servers: servers.clone(),
            failed_packs: failed_packs.clone(),
            storage_trouble: None,
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

    async fn data(&self, function: &str, args: Value) -> Value {
        let output = self.call(function, args).await.unwrap_or_else(|error| panic!("{error}"));
        output.structured_content.unwrap()
    }

    async fn raised(&self, function: &str, args: Value) -> (String, String) {
        match self.call(function, args).await {
            Err(CallError::Failed { source: ToolError::Raised { kind, message }, .. }) => {
                (kind.into_owned(), message)
            }
            other => panic!("{other:?}"),
        }
    }

    async fn stored(&self, body: ResultBody) -> String {
        let stored = self.host.results.put(CallContext::detached().caller(), body).await.unwrap();
        stored.handle.to_string()
    }

    fn asked(&self) -> String {
        self.host.asked.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

const OT: [&str; 13] = [
    "tools", "packs", "aliases", "snippets", "help", "config", "health", "version", "result", "load",
    "stats", "notify", "reload",
];

#[tokio::test]
async fn ot_1_1_every_tool_is_listed_but_those_that_clients_see_anyway() {
    let names = gateway().data("tools", json!({"info": "list"})).await;
    let own = ["brave.web_search", "web.fetch", "web.fetch_batch", "demo.foo", "bare"].map(str::to_owned);
    let ot = OT.iter().map(|function| format!("ot.{function}"));
    assert_eq!(names, json!(own.into_iter().chain(ot).collect::<Vec<_>>()));
}

#[tokio::test]
async fn ot_1_2_a_pattern_keeps_names_that_contain_it() {
    let args = json!({"pattern": "FETCH", "info": "list"});
    assert_eq!(gateway().data("tools", args).await, json!(["web.fetch", "web.fetch_batch"]));
    assert_eq!(gateway().text("tools", json!({"pattern": "nothing"})).await, "[]");
}

#[tokio::test]
async fn ot_1_3_list_gives_names() {
    assert_eq!(
        gateway().text("tools", json!({"pattern": "web.", "info": "list"})).await,
        "[web.fetch, web.fetch_batch]"
    );
}

#[tokio::test]
async fn ot_1_4_min_gives_names_and_descriptions() {
    let text = gateway().text("tools", json!({"pattern": "web"})).await;
    assert_snapshot!(text, @r"
    - {name: brave.web_search, description: Search the web. With care.}
    - {name: web.fetch, description: Fetch a page.}
    - {name: web.fetch_batch, description: Fetch several pages.}
    ");
    assert_eq!(gateway().text("tools", json!({"pattern": "web", "info": "min"})).await, text);
}

#[tokio::test]
async fn ot_1_5_full_gives_all_that_is_known() {
    assert_eq!(
        gateway().data("tools", json!({"pattern": "brave", "info": "full"})).await,
        json!([{
            "name": "brave.web_search",
            "signature": "brave.web_search(query: str, count: int = 5)",
            "description": "Search the web.\nWith care.\n\nSecond paragraph.",
            "source": "local",
            "args": ["query: What to search for.", "count: How many results."],
            "returns": "list[str]",
            "example": "brave.web_search(query=\"rust\")",
        }])
    );
    assert_eq!(
        gateway().data("tools", json!({"pattern": "demo", "info": "full"})).await,
        json!([{"name": "demo.foo", "signature": "demo.foo()", "description": "Does foo.", "source": "local"}])
    );
}

#[tokio::test]
async fn ot_1_5_another_level_is_refused_by_name() {
    let error = gateway().call("tools", json!({"info": "all"})).await.unwrap_err().to_string();
    assert_snapshot!(error, @r#"schema validation failed for tool 'ot.tools': at '/info': "all" is not one of "list", "min" or "full""#);
}

#[tokio::test]
async fn ot_2_1_config_is_one_line_each() {
    let servers = ["github", "docs"].map(|name| ServerState {
        name: name.into(),
        connected: true,
        reason: None,
        enabled: name == "github",
    });
    let gateway = gateway_with(Setup { servers: servers.into(), ..Setup::default() });
    assert_snapshot!(gateway.text("config", json!({})).await, @r"
    aliases: {ws: brave.web_search, alias_f: demo.foo, search: ws}
    snippets: {brv_research: {description: Search web and extract structured findings}}
    servers: [github, docs]
    ");
}

#[tokio::test]
async fn ot_2_2_without_configuration_all_is_empty() {
    let gateway = gateway_with(Setup { is_bare: true, ..Setup::default() });
    assert_eq!(gateway.text("config", json!({})).await, "{aliases: {}, snippets: {}, servers: []}");
}

#[tokio::test]
async fn ot_3_1_health_is_one_line_each() {
    assert_snapshot!(gateway().text("health", json!({})).await, @r#"
    version: "0.1.0"
    python: "3.14.0"
    cwd: /srv/agent
    registry: {status: ok, tool_count: 18}
    proxy: {status: ok, server_count: 0, servers: {}}
    "#);
}

#[tokio::test]
async fn ot_3_1_health_names_a_pack_that_failed_to_load() {
    let failed = FailedPack { name: "weather".into(), reason: "line 3: invalid syntax".into() };
    let gateway = gateway_with(Setup { failed_packs: vec![failed], ..Setup::default() });
    assert_eq!(
        gateway.data("health", json!({})).await["registry"],
        json!({"status": "degraded", "tool_count": 18, "reasons": {"weather": "line 3: invalid syntax"}})
    );
}

#[tokio::test]
async fn ot_3_2_a_server_without_connection_is_told_with_its_reason() {
    let server = |name: &str, connected, enabled, reason: Option<&str>| ServerState {
        name: name.into(),
        connected,
        enabled,
        reason: reason.map(str::to_owned),
    };
    let servers = vec![
        server("github", true, true, None),
        server("docs", false, true, Some("connection refused")),
        server("off", false, false, None),
    ];
    let gateway = gateway_with(Setup { servers, ..Setup::default() });
    let text = gateway.text("health", json!({})).await;
    assert_eq!(
        text.lines().last().unwrap(),
        "proxy: {status: degraded, server_count: 2, servers: {github: connected, docs: disconnected}, reasons: {docs: connection refused}}"
    );
}

#[tokio::test]
async fn ot_4_1_a_note_is_appended() {
    let folder = TempDir::new().unwrap();
    let topics = vec![TopicConfig { pattern: "notes".into(), file: folder.path().join("notes.yaml") }];
    let gateway =
        gateway_with(Setup { host: TestHost { topics, ..TestHost::default() }, ..Setup::default() });
    let text = gateway.text("notify", json!({"topic": "notes", "message": "one\ntwo"})).await;
    assert_eq!(text, "OK: appended to notes.yaml");
    let file = std::fs::read_to_string(folder.path().join("notes.yaml")).unwrap();
    assert_eq!(file, "---\nts: \"1970-01-01T00:00:00.000Z\"\ntopic: notes\nmessage: |-\n  one\n  two\n");
}

#[tokio::test]
async fn ot_4_1_a_note_that_cannot_be_kept_raises_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let topics = vec![TopicConfig { pattern: "*".into(), file: folder.path().to_owned() }];
    let gateway =
        gateway_with(Setup { host: TestHost { topics, ..TestHost::default() }, ..Setup::default() });
    let (kind, message) = gateway.raised("notify", json!({"topic": "a", "message": ""})).await;
    assert_eq!(kind, "RuntimeError");
    assert!(message.starts_with(&format!("cannot append to {}: ", folder.path().display())), "{message}");
}

#[tokio::test]
async fn ot_4_2_without_a_topic_the_note_is_skipped() {
    let text = gateway().text("notify", json!({"topic": "other", "message": "x"})).await;
    assert_eq!(text, "SKIP: no matching topic");
}

#[tokio::test]
async fn ot_5_1_reload_says_so_or_why_not() {
    assert_eq!(gateway().text("reload", json!({})).await, "OK: Configuration reloaded");
    let broken_config = Some("error at /x/onetool.yaml:3: unknown key 'a'".into());
    let gateway =
        gateway_with(Setup { host: TestHost { broken_config, ..TestHost::default() }, ..Setup::default() });
    let (kind, message) = gateway.raised("reload", json!({})).await;
    assert_eq!(kind, "RuntimeError");
    assert_eq!(
        message,
        "the configuration was not reloaded, the old one stays in force: error at /x/onetool.yaml:3: unknown key 'a'"
    );
}

#[tokio::test]
async fn ot_6_1_stats_are_data() {
    assert_snapshot!(gateway().text("stats", json!({})).await, @r"
    total_calls: 2
    success_rate: 50.0
    tools: {demo.foo: {calls: 2}}
    ");
}

#[tokio::test]
async fn ot_6_2_a_period_is_passed_on() {
    let gateway = gateway();
    for period in ["day", "week", "month", "all"] {
        gateway.data("stats", json!({"period": period})).await;
    }
    gateway.data("stats", json!({})).await;
    assert_snapshot!(gateway.asked(), @r"
    StatsQuery { period: Day, tool: None, output: None }
    StatsQuery { period: Week, tool: None, output: None }
    StatsQuery { period: Month, tool: None, output: None }
    StatsQuery { period: All, tool: None, output: None }
    StatsQuery { period: All, tool: None, output: None }
    ");
}

#[tokio::test]
async fn ot_6_3_a_tool_is_passed_on_by_its_canonical_name() {
    let gateway = gateway();
    for tool in ["brave.web_search", "brave_web_search", "ws", "gone.tool"] {
        gateway.data("stats", json!({"tool": tool, "output": "stats.html"})).await;
    }
    assert_snapshot!(gateway.asked(), @r#"
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("gone.tool"), output: Some("stats.html") }
    "#);
}

async fn stats_text(stats_error: StatsError) -> String {
    let host = TestHost { stats_error: Some(stats_error), ..TestHost::default() };
    gateway_with(Setup { host, ..Setup::default() }).text("stats", json!({})).await
}

#[tokio::test]
async fn ot_6_5_statistics_that_are_off_are_an_answer() {
    assert_eq!(
        stats_text(StatsError::Off).await,
        "Error: Statistics are switched off. Set stats.enabled to true in the configuration, then ot.reload()"
    );
}

#[tokio::test]
async fn ot_6_6_a_report_that_cannot_be_written_is_an_answer() {
    let error = StatsError::Write { path: "/x/stats.html".into(), reason: "Permission denied".into() };
    assert_eq!(stats_text(error).await, "Error: Cannot write to '/x/stats.html': Permission denied");
}

#[tokio::test]
async fn ot_6_7_an_invalid_period_names_the_valid_ones() {
    let gateway = gateway();
    assert_eq!(
        gateway.text("stats", json!({"period": "invalid"})).await,
        "Error: Invalid period 'invalid'. Valid: day, week, month, all. Example: ot.stats(period='day')"
    );
    assert_eq!(gateway.asked(), "");
}

#[tokio::test]
async fn ot_7_2_answers_that_are_text_have_no_data() {
    for (function, args) in [
        ("help", json!({})),
        ("packs", json!({"info": "full"})),
        ("aliases", json!({})),
        ("snippets", json!({})),
        ("snippets", json!({"info": "full"})),
        ("version", json!({})),
        ("reload", json!({})),
    ] {
        assert_eq!(gateway().call(function, args).await.unwrap().structured_content, None, "{function}");
    }
}

#[tokio::test]
async fn ot_8_1_every_call_has_one_span_of_its_name() {
    let spans = CapturedSpans::start();
    let (gateway, handle) = with_stored().await;
    let call_all = async || {
        for function in OT {
            let args = match function {
                "result" | "load" => json!({"handle": handle}),
                "notify" => json!({"topic": "t", "message": "m"}),
                _ => json!({}),
            };
            gateway.text(function, args).await;
        }
    };
    call_all().await;
    spans.settle();
    call_all().await;
    let named: Vec<String> = OT.iter().map(|function| format!("ot.{function}")).collect();
    let names: Vec<String> = spans.take().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, named);
}

#[tokio::test]
async fn ot_14_1_the_span_of_a_result_has_its_query() {
    let spans = CapturedSpans::start();
    let (gateway, handle) = with_stored().await;
    gateway.data("result", json!({"handle": handle})).await;
    spans.settle();
    gateway.data("result", json!({"handle": handle})).await;
    gateway.data("result", json!({"handle": handle, "offset": 3, "limit": 7, "search": "err"})).await;
    assert_eq!(
        spans.take(),
        [
            ("ot.result", format!("handle={handle} offset=1 limit=100")),
            ("ot.result", format!("handle={handle} offset=3 limit=7 search=err")),
        ]
    );
}

#[tokio::test]
async fn ot_9_1_every_pack_is_listed() {
    assert_snapshot!(gateway().text("packs", json!({})).await, @r"
    - {name: brave, source: local, tool_count: 1}
    - {name: web, source: local, tool_count: 2}
    - {name: demo, source: local, tool_count: 1}
    - {name: ot, source: local, tool_count: 13}
    ");
}

#[tokio::test]
async fn ot_9_2_packs_are_found_by_a_part_of_their_name() {
    assert_eq!(gateway().data("packs", json!({"pattern": "BRAV", "info": "list"})).await, json!(["brave"]));
    let none = gateway().text("packs", json!({"pattern": "xyz", "info": "full"})).await;
    assert_eq!(none, "No packs match 'xyz'");
}

#[tokio::test]
async fn ot_9_3_list_gives_names() {
    assert_eq!(gateway().text("packs", json!({"info": "list"})).await, "[brave, web, demo, ot]");
}

#[tokio::test]
async fn ot_9_4_min_gives_source_and_count() {
    let packs = gateway().data("packs", json!({"pattern": "web", "info": "min"})).await;
    assert_eq!(packs, json!([{"name": "web", "source": "local", "tool_count": 2}]));
}

#[tokio::test]
async fn ot_9_5_full_has_a_header_and_the_tools() {
    assert_snapshot!(gateway().text("packs", json!({"pattern": "brave", "info": "full"})).await, @r"
    # brave

    ## Tools (1, local)
    - brave.web_search: Search the web. With care.
    ");
}

#[tokio::test]
async fn ot_9_6_full_has_the_configured_instructions() {
    assert_snapshot!(gateway().text("packs", json!({"pattern": "web", "info": "full"})).await, @r"
    # web

    Fetch pages politely.

    One at a time.

    ## Tools (2, local)
    - web.fetch: Fetch a page.
    - web.fetch_batch: Fetch several pages.
    ");
}

#[tokio::test]
async fn ot_10_1_every_alias_is_listed() {
    assert_eq!(gateway().data("aliases", json!({"info": "list"})).await, json!(["ws", "alias_f", "search"]));
    let bare = gateway_with(Setup { is_bare: true, ..Setup::default() });
    assert_eq!(bare.text("aliases", json!({})).await, "No aliases configured");
}

#[tokio::test]
async fn ot_10_2_a_pattern_matches_alias_or_target() {
    let names =
        async |pattern: &str| gateway().data("aliases", json!({"pattern": pattern, "info": "list"})).await;
    assert_eq!(names("ALIAS").await, json!(["alias_f"]));
    assert_eq!(names("web_search").await, json!(["ws"]));
}

#[tokio::test]
async fn ot_10_3_list_gives_names() {
    assert_eq!(gateway().text("aliases", json!({"info": "list"})).await, "[ws, alias_f, search]");
}

#[tokio::test]
async fn ot_10_4_min_gives_alias_and_target() {
    assert_snapshot!(gateway().text("aliases", json!({})).await, @r"
    ws -> brave.web_search
    alias_f -> demo.foo
    search -> ws
    ");
}

#[tokio::test]
async fn ot_10_5_full_gives_objects() {
    let aliases = gateway().data("aliases", json!({"pattern": "demo", "info": "full"})).await;
    assert_eq!(aliases, json!([{"name": "alias_f", "target": "demo.foo"}]));
}

#[tokio::test]
async fn ot_11_1_every_snippet_is_listed_with_its_description() {
    let text = gateway().text("snippets", json!({})).await;
    assert_eq!(text, "brv_research: Search web and extract structured findings");
    let bare = gateway_with(Setup { is_bare: true, ..Setup::default() });
    assert_eq!(bare.text("snippets", json!({})).await, "No snippets configured");
}

#[tokio::test]
async fn ot_11_2_a_pattern_matches_name_or_description() {
    let names =
        async |pattern: &str| gateway().data("snippets", json!({"pattern": pattern, "info": "list"})).await;
    assert_eq!(names("BRV").await, json!(["brv_research"]));
    assert_eq!(names("findings").await, json!(["brv_research"]));
    assert_eq!(names("xyz").await, json!([]));
}

#[tokio::test]
async fn ot_11_3_list_gives_names() {
    assert_eq!(gateway().text("snippets", json!({"info": "list"})).await, "[brv_research]");
}

#[tokio::test]
async fn ot_11_4_min_gives_name_and_description() {
    let text = gateway().text("snippets", json!({"info": "min"})).await;
    assert_eq!(text, "brv_research: Search web and extract structured findings");
}

#[tokio::test]
async fn ot_11_5_full_gives_parameters_code_and_an_example() {
    let text = gateway().text("snippets", json!({"pattern": "brv_research", "info": "full"})).await;
    for part in [
        "description: Search web",
        "count: {default: 5",
        "body: |\n  results",
        "# $brv_research topic=Python",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

async fn help(query: &str, info: &str) -> String {
    gateway().text("help", json!({"query": query, "info": info})).await
}

#[tokio::test]
async fn ot_12_1_without_a_query_help_is_an_overview() {
    let text = gateway().text("help", json!({})).await;
    for part in
        ["ot.tools(", "ot.packs(", "info=\"list\"", "info=\"min\"", "info=\"full\"", "## Examples", "## Tips"]
    {
        assert!(text.contains(part), "{part}");
    }
}

#[tokio::test]
async fn ot_12_2_a_tool_has_a_card() {
    assert_eq!(help("brave_web_search", "min").await, help("brave.web_search", "min").await);
    assert_snapshot!(help("brave.web_search", "min").await, @r#"
    # brave.web_search

    Search the web.
    With care.

    Second paragraph.

    ## Signature
    brave.web_search(query: str, count: int = 5)

    ## Args
    - query (str): What to search for.
    - count (int, optional): How many results.

    ## Returns
    list[str]

    ## Example
    brave.web_search(query="rust")

    ## Docs
    https://onetool.beycom.online/reference/tools/brave-search/
    "#);
}

#[tokio::test]
async fn ot_12_3_a_pack_has_a_card() {
    assert_snapshot!(help("web", "min").await, @r"
    # web

    Fetch pages politely.

    One at a time.

    ## Tools (2, local)
    - web.fetch: Fetch a page.
    - web.fetch_batch: Fetch several pages.

    ## Docs
    https://onetool.beycom.online/reference/tools/web-fetch/
    ");
}

#[tokio::test]
async fn ot_12_4_a_snippet_has_its_document() {
    let document = gateway().text("snippets", json!({"info": "full"})).await;
    assert_eq!(help("$brv_research", "min").await, document);
    assert_eq!(help("brv_research", "min").await, document);
}

#[tokio::test]
async fn ot_12_5_an_alias_has_a_card() {
    assert_snapshot!(help("ws", "min").await, @r#"
    # ws

    Alias: ws -> brave.web_search

    Use it like the tool itself: ws(query="...")
    All about the tool: ot.help(query="brave.web_search")
    "#);
    assert!(help("search", "min").await.contains("Alias: search -> ws -> brave.web_search"));
}

#[tokio::test]
async fn ot_12_6_other_queries_are_searched_and_grouped() {
    assert_snapshot!(help("web fetch", "min").await, @r"
    Matches for 'web fetch', best first:

    ## Tools
    - web.fetch: Fetch a page.
    - web.fetch_batch: Fetch several pages.
    - brave.web_search: Search the web. With care.

    ## Packs
    - web: Fetch pages politely.
    ");
    assert_snapshot!(help("web search", "list").await, @r"
    Matches for 'web search', best first:

    ## Tools
    - brave.web_search
    - web.fetch
    - web.fetch_batch

    ## Packs
    - web

    ## Snippets
    - $brv_research

    ## Aliases
    - search
    - ws
    ");
}

#[tokio::test]
async fn ot_12_7_typos_find_what_was_meant() {
    let text = help("web.fecth", "min").await;
    assert!(text.lines().nth(3).unwrap().starts_with("- web.fetch:"), "{text}");
    assert!(help("$brv_reserch", "min").await.contains("- $brv_research: "));
}

#[tokio::test]
async fn ot_12_8_list_gives_names_only() {
    assert_eq!(help("brave_web_search", "list").await, "brave.web_search");
    assert_eq!(help("$brv_research", "list").await, "$brv_research");
    assert!(!help("fetch page", "list").await.contains("Fetch a page"));
}

#[tokio::test]
async fn ot_12_9_min_gives_short_descriptions() {
    let text = help("fetch", "min").await;
    assert!(text.contains("- web.fetch: Fetch a page.\n- web.fetch_batch: Fetch several pages."), "{text}");
}

#[tokio::test]
async fn ot_12_10_full_gives_everything() {
    let text = help("brave.web_search", "full").await;
    for part in [
        "- source: local",
        "- flat name: brave_web_search",
        "- keywords: news",
        "count=1)",
        "- input schema: {",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = help("fetch", "full").await;
    assert!(text.contains("# web.fetch\n\nFetch a page.\n\n## Signature\nweb.fetch()"), "{text}");
}

#[tokio::test]
async fn ot_12_12_nothing_found_points_at_the_lists() {
    assert_eq!(
        help("xyzzy", "min").await,
        "No matches for 'xyzzy'. ot.tools() lists every tool, ot.packs() every pack."
    );
}

/// A gateway with 300 stored lines, of which every hundredth is an error.
async fn with_stored() -> (Gateway, String) {
    let gateway = gateway();
    let line = |n: u32| if n.is_multiple_of(100) { format!("error {n}") } else { format!("line {n}") };
    let text = (1..=300).map(line).collect::<Vec<_>>().join("\n");
    let handle = gateway.stored(ResultBody::Text(text)).await;
    (gateway, handle)
}

/// Returns the lines of a page.
async fn lines(gateway: &Gateway, args: Value) -> Vec<String> {
    let page = gateway.data("result", args).await;
    page["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn ot_13_1_a_page_has_a_hundred_lines_from_the_first() {
    let (gateway, handle) = with_stored().await;
    let page = lines(&gateway, json!({"handle": handle})).await;
    assert_eq!((page.len(), page[0].as_str(), page[99].as_str()), (100, "line 1", "error 100"));
}

#[tokio::test]
async fn ot_13_2_offset_and_limit_choose_lines() {
    let (gateway, handle) = with_stored().await;
    let page = lines(&gateway, json!({"handle": handle, "offset": 101, "limit": 50})).await;
    assert_eq!((page.len(), page[0].as_str(), page[49].as_str()), (50, "line 101", "line 150"));
}

#[tokio::test]
async fn ot_13_3_search_takes_a_regular_expression() {
    let (gateway, handle) = with_stored().await;
    assert_eq!(
        lines(&gateway, json!({"handle": handle, "search": "^err.*[13]00$"})).await,
        ["error 100", "error 300"]
    );
    let second = json!({"handle": handle, "search": "error", "offset": 2, "limit": 1});
    assert_eq!(lines(&gateway, second).await, ["error 200"], "offset and limit count what was found");
    let (kind, message) = gateway.raised("result", json!({"handle": handle, "search": "a("})).await;
    assert_eq!(kind, "ValueError");
    assert!(message.contains("a(\n") && message.contains('^'), "shows where: {message}");
}

#[tokio::test]
async fn ot_13_4_fuzzy_search_gives_the_best_first() {
    let gateway = gateway();
    let text = "alpha\nconection refused\nbeta\nconnection refused\n";
    let handle = gateway.stored(ResultBody::Text(text.into())).await;
    let found =
        lines(&gateway, json!({"handle": handle, "search": "connection refused", "fuzzy": true})).await;
    assert_eq!(found, ["connection refused", "conection refused"]);
}

#[tokio::test]
async fn ot_13_5_an_unknown_handle_raises() {
    let (kind, message) = gateway().raised("result", json!({"handle": "nope"})).await;
    assert_eq!((kind.as_str(), message.as_str()), ("ValueError", "result not found: 'nope'"));
}

#[tokio::test]
async fn ot_13_6_an_expired_handle_raises() {
    let (gateway, handle) = with_stored().await;
    gateway.host.clock.advance(ResultOptions::default().ttl + Duration::from_secs(1));
    let (kind, message) = gateway.raised("result", json!({"handle": handle})).await;
    assert_eq!(kind, "ValueError");
    let expected = format!("result expired: '{handle}' is past its time to live; run the code again");
    assert_eq!(message, expected);
}

#[tokio::test]
async fn ot_13_7_the_answer_is_data() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Text("a\nb: c\nd".into())).await;
    assert_snapshot!(gateway.text("result", json!({"handle": handle, "limit": 2})).await, @r#"
    lines: [a, "b: c"]
    total_lines: 3
    returned: 2
    offset: 1
    has_more: true
    "#);
    assert_snapshot!(gateway.text("result", json!({"handle": handle, "search": "a|d"})).await, @r"
    lines: [a, d]
    total_lines: 3
    returned: 2
    offset: 1
    has_more: false
    matches: 2
    ");
}

#[tokio::test]
async fn ot_13_8_the_first_line_is_line_one() {
    let (gateway, handle) = with_stored().await;
    assert_eq!(lines(&gateway, json!({"handle": handle, "offset": 1, "limit": 1})).await, ["line 1"]);
}

#[tokio::test]
async fn ot_13_9_an_offset_of_zero_raises() {
    let (gateway, handle) = with_stored().await;
    let (kind, message) = gateway.raised("result", json!({"handle": handle, "offset": 0})).await;
    assert_eq!((kind.as_str(), message.as_str()), ("ValueError", "offset must be >= 1 (1-indexed), got 0"));
}

#[tokio::test]
async fn ot_13_10_a_limit_of_zero_raises() {
    let (gateway, handle) = with_stored().await;
    let (kind, message) = gateway.raised("result", json!({"handle": handle, "limit": 0})).await;
    assert_eq!((kind.as_str(), message.as_str()), ("ValueError", "limit must be >= 1, got 0"));
}

#[tokio::test]
async fn a_path_picks_a_part_of_stored_json() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Json(json!({"a": [{"b": "x\ny"}]}))).await;
    assert_eq!(lines(&gateway, json!({"handle": handle, "path": "a[0].b"})).await, ["x", "y"]);
}

#[tokio::test]
async fn ot_15_1_the_version_is_a_string() {
    assert_eq!(gateway().text("version", json!({})).await, "0.1.0");
}

#[tokio::test]
async fn a_loaded_result_is_data_and_a_text_stays_text() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Json(json!({"a": [1]}))).await;
    assert_eq!(gateway.data("load", json!({"handle": handle})).await, json!({"a": [1]}));
    let handle = gateway.stored(ResultBody::Text("no { JSON".into())).await;
    let output = gateway.call("load", json!({"handle": handle})).await.unwrap();
    assert_eq!(output.structured_content, Some(json!("no { JSON")));
    assert_eq!(output.content[0].as_text(), Some("no { JSON"));
}

#[test]
fn every_function_has_a_whole_schema() {
    let gateway = gateway();
    let catalog = gateway.server.catalog();
    let signatures: Vec<String> = OT
        .iter()
        .map(|function| {
            let entry = catalog.resolve(&format!("ot.{function}")).unwrap();
            let spec = entry.spec();
            let read_only = spec.annotations.unwrap().read_only_hint.unwrap();
            assert_eq!(read_only, !["notify", "reload", "stats"].contains(function), "{function}");
            assert_eq!(spec.input_schema["additionalProperties"], false);
            assert!(!Value::Object(JsonObject::clone(&spec.input_schema)).to_string().contains("minimum"));
            assert!(!spec.description.is_empty());
            spec.signature()
        })
        .collect();
    assert_snapshot!(signatures.join("\n"), @r"
    ot.tools(pattern: str = '', info: Literal['list', 'min', 'full'] = 'min')
    ot.packs(pattern: str = '', info: Literal['list', 'min', 'full'] = 'min')
    ot.aliases(pattern: str = '', info: Literal['list', 'min', 'full'] = 'min')
    ot.snippets(pattern: str = '', info: Literal['list', 'min', 'full'] = 'min')
    ot.help(query: str = '', info: Literal['list', 'min', 'full'] = 'min')
    ot.config()
    ot.health()
    ot.version()
    ot.result(handle: str, offset: int = 1, limit: int = 100, search: str | None = None, fuzzy: bool = False, path: str | None = None)
    ot.load(handle: str)
    ot.stats(period: str = 'all', tool: str | None = None, output: str | None = None)
    ot.notify(topic: str, message: str)
    ot.reload()
    ");
}
