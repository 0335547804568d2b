//! Tests of the listings: tools, packs, aliases, snippets and the configuration.

use super::*;

#[tokio::test]
async fn ot_1_1_all_tools_are_listed_except_those_that_every_client_sees() {
    let names = gateway().data("tools", json!({"info": "list"})).await;
    let own = ["brave.web_search", "web.fetch", "web.fetch_batch", "demo.foo", "bare"].map(str::to_owned);
    let ot = OT.iter().map(|function| format!("ot.{function}"));
    assert_eq!(names, json!(own.into_iter().chain(ot).collect::<Vec<_>>()));
}

#[tokio::test]
async fn ot_1_2_a_pattern_selects_names_that_contain_it() {
    let args = json!({"pattern": "FETCH", "info": "list"});
    assert_eq!(gateway().data("tools", args).await, json!(["web.fetch", "web.fetch_batch"]));
    assert_eq!(gateway().text("tools", json!({"pattern": "nothing"})).await, "[]");
}

#[tokio::test]
async fn ot_1_3_list_has_names() {
    assert_eq!(
        gateway().text("tools", json!({"pattern": "web.", "info": "list"})).await,
        "[web.fetch, web.fetch_batch]"
    );
}

#[tokio::test]
async fn ot_1_4_min_has_names_and_descriptions() {
    let text = gateway().text("tools", json!({"pattern": "web"})).await;
    assert_snapshot!(text, @r"
    - {name: brave.web_search, description: Search the web. With care.}
    - {name: web.fetch, description: Fetch a page.}
    - {name: web.fetch_batch, description: Fetch several pages.}
    ");
    assert_eq!(gateway().text("tools", json!({"pattern": "web", "info": "min"})).await, text);
}

#[tokio::test]
async fn ot_1_5_full_has_everything() {
    assert_eq!(
        gateway().data("tools", json!({"pattern": "brave", "info": "full"})).await,
        json!([{
            "name": "brave.web_search",
            "signature": "brave.web_search(query: str, count: int = 5)",
            "description": "Search the web.\nWith care.\n\nSecond paragraph.",
            "source": "local",
            "args": ["query: What to search for.", "count: Number of results."],
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
async fn ot_1_5_an_unknown_level_is_an_error() {
    let error = gateway().call("tools", json!({"info": "all"})).await.unwrap_err().to_string();
    assert_snapshot!(error, @r#"schema validation failed for tool 'ot.tools': at '/info': "all" is not one of "list", "min" or "full""#);
}

#[tokio::test]
async fn ot_2_1_config_has_one_line_per_key() {
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
async fn ot_2_2_without_a_configuration_everything_is_empty() {
    let gateway = gateway_with(Setup { is_bare: true, ..Setup::default() });
    assert_eq!(gateway.text("config", json!({})).await, "{aliases: {}, snippets: {}, servers: []}");
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
async fn ot_9_2_packs_are_found_by_part_of_their_name() {
    assert_eq!(gateway().data("packs", json!({"pattern": "BRAV", "info": "list"})).await, json!(["brave"]));
    let none = gateway().text("packs", json!({"pattern": "xyz", "info": "full"})).await;
    assert_eq!(none, "No packs match 'xyz'");
}

#[tokio::test]
async fn ot_9_3_list_has_names() {
    assert_eq!(gateway().text("packs", json!({"info": "list"})).await, "[brave, web, demo, ot]");
}

#[tokio::test]
async fn ot_9_4_min_has_source_and_count() {
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
async fn ot_10_3_list_has_names() {
    assert_eq!(gateway().text("aliases", json!({"info": "list"})).await, "[ws, alias_f, search]");
}

#[tokio::test]
async fn ot_10_4_min_has_alias_and_target() {
    assert_snapshot!(gateway().text("aliases", json!({})).await, @r"
    ws -> brave.web_search
    alias_f -> demo.foo
    search -> ws
    ");
}

#[tokio::test]
async fn ot_10_5_full_has_objects() {
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
async fn ot_11_3_list_has_names() {
    assert_eq!(gateway().text("snippets", json!({"info": "list"})).await, "[brv_research]");
}

#[tokio::test]
async fn ot_11_4_min_has_name_and_description() {
    let text = gateway().text("snippets", json!({"info": "min"})).await;
    assert_eq!(text, "brv_research: Search web and extract structured findings");
}

#[tokio::test]
async fn ot_11_5_full_has_parameters_code_and_an_example() {
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
