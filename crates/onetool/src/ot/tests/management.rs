//! Tests of health, notes, reload and statistics, and of properties that all functions share.

use super::*;

#[tokio::test]
async fn ot_3_1_health_has_one_line_per_key() {
    assert_snapshot!(gateway().text("health", json!({})).await, @r#"
    version: "0.1.0"
    python: "3.14.0"
    cwd: /srv/agent
    registry: {status: ok, tool_count: 18}
    proxy: {status: ok, server_count: 0, servers: {}}
    "#);
}

#[tokio::test]
async fn ot_3_1_health_lists_packs_that_failed_to_load() {
    let failed = FailedPack { name: "weather".into(), reason: "line 3: invalid syntax".into() };
    let gateway = gateway_with(Setup { failed_packs: vec![failed], ..Setup::default() });
    assert_eq!(
        gateway.data("health", json!({})).await["registry"],
        json!({"status": "degraded", "tool_count": 18, "reasons": {"weather": "line 3: invalid syntax"}})
    );
}

#[tokio::test]
async fn ot_3_2_a_disconnected_server_has_a_reason() {
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
    let topics = vec![TopicConfig { pattern: "notes".into(), file: folder.path().join("notes.yaml").into() }];
    let gateway =
        gateway_with(Setup { host: TestHost { topics, ..TestHost::default() }, ..Setup::default() });
    let text = gateway.text("notify", json!({"topic": "notes", "message": "one\ntwo"})).await;
    assert_eq!(text, "OK: appended to notes.yaml");
    let file = std::fs::read_to_string(folder.path().join("notes.yaml")).unwrap();
    assert_eq!(file, "---\nts: \"1970-01-01T00:00:00.000Z\"\ntopic: notes\nmessage: |-\n  one\n  two\n");
}

#[tokio::test]
async fn ot_4_1_a_note_that_cannot_be_written_raises_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let topics = vec![TopicConfig { pattern: "*".into(), file: folder.path().to_owned().into() }];
    let gateway =
        gateway_with(Setup { host: TestHost { topics, ..TestHost::default() }, ..Setup::default() });
    let (kind, message) = gateway.raised("notify", json!({"topic": "a", "message": ""})).await;
    assert_eq!(kind, "RuntimeError");
    assert!(message.starts_with(&format!("cannot append to {}: ", folder.path().display())), "{message}");
}

#[tokio::test]
async fn ot_4_2_a_note_without_a_matching_topic_is_skipped() {
    let text = gateway().text("notify", json!({"topic": "other", "message": "x"})).await;
    assert_eq!(text, "SKIP: no matching topic");
}

#[tokio::test]
async fn ot_5_1_reload_confirms_or_raises_with_the_reason() {
    assert_eq!(gateway().text("reload", json!({})).await, "OK: Configuration reloaded");
    let broken_config = Some("error at /x/onetool.yaml:3: unknown key 'a'".into());
    let gateway =
        gateway_with(Setup { host: TestHost { broken_config, ..TestHost::default() }, ..Setup::default() });
    let (kind, message) = gateway.raised("reload", json!({})).await;
    assert_eq!(kind, "RuntimeError");
    assert_eq!(
        message,
        "configuration not reloaded, the previous one stays active: error at /x/onetool.yaml:3: unknown key 'a'"
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
    assert_snapshot!(gateway.queries(), @r"
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
    assert_snapshot!(gateway.queries(), @r#"
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("brave.web_search"), output: Some("stats.html") }
    StatsQuery { period: All, tool: Some("gone.tool"), output: Some("stats.html") }
    "#);
}

async fn stats_text(stats_error: StatsError) -> String {
    let host = TestHost { stats_error: Some(stats_error), ..TestHost::default() };
    gateway_with(Setup { host, ..Setup::default() }).error("stats", json!({})).await
}

#[tokio::test]
async fn ot_6_5_disabled_statistics_are_an_error() {
    assert_eq!(
        stats_text(StatsError::Off).await,
        "Error: Statistics are disabled. Set stats.enabled to true in the configuration, then call ot.reload()"
    );
}

#[tokio::test]
async fn ot_6_6_a_report_that_cannot_be_written_is_an_error() {
    let error = StatsError::Write { path: "/x/stats.html".into(), reason: "Permission denied".into() };
    assert_eq!(stats_text(error).await, "Error: Cannot write to '/x/stats.html': Permission denied");
}

#[tokio::test]
async fn ot_6_7_an_invalid_period_is_an_error_that_lists_the_valid_ones() {
    let gateway = gateway();
    assert_eq!(
        gateway.error("stats", json!({"period": "invalid"})).await,
        "Error: Invalid period 'invalid'. Valid: day, week, month, all. Example: ot.stats(period='day')"
    );
    assert_eq!(gateway.queries(), "");
}

#[tokio::test]
async fn ot_7_2_text_results_have_no_data() {
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
async fn ot_8_1_every_call_has_one_span_with_its_name() {
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
    let expected: Vec<String> = OT.iter().map(|function| format!("ot.{function}")).collect();
    let names: Vec<String> = spans.take().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn ot_15_1_the_version_is_a_string() {
    assert_eq!(gateway().text("version", json!({})).await, "0.1.0");
}

#[test]
fn every_function_has_a_complete_schema() {
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
