//! Tests of `ot.help`.

use super::*;

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
    - count (int, optional): Number of results.

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
async fn ot_12_4_a_snippet_has_a_document() {
    let document = gateway().text("snippets", json!({"info": "full"})).await;
    assert_eq!(help("$brv_research", "min").await, document);
    assert_eq!(help("brv_research", "min").await, document);
}

#[tokio::test]
async fn ot_12_5_an_alias_has_a_card() {
    assert_snapshot!(help("ws", "min").await, @r#"
    # ws

    Alias: ws -> brave.web_search

    Call it like the tool: ws(query="...")
    Details: ot.help(query="brave.web_search")
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
async fn ot_12_7_typos_are_tolerated() {
    let text = help("web.fecth", "min").await;
    assert!(text.lines().nth(3).unwrap().starts_with("- web.fetch:"), "{text}");
    assert!(help("$brv_reserch", "min").await.contains("- $brv_research: "));
}

#[tokio::test]
async fn ot_12_8_list_has_only_names_and_an_exact_match_first() {
    let text = help("brave_web_search", "list").await;
    assert_eq!(text.lines().next(), Some("brave.web_search"));
    assert_eq!(text.matches("brave.web_search").count(), 1, "{text}");
    assert!(!help("fetch page", "list").await.contains("Fetch a page"));
}

#[tokio::test]
async fn d8_list_has_all_matching_names_after_the_exact_one() {
    assert_snapshot!(help("web", "list").await, @r"
    web

    ## Tools
    - brave.web_search
    - web.fetch
    - web.fetch_batch

    ## Snippets
    - $brv_research

    ## Aliases
    - ws
    ");
    let tools: Vec<String> = (0..300).map(|number| format!("web.page_{number}")).collect();
    let gateway = gateway_with(Setup { more_tools: tools.clone(), ..Setup::default() });
    let text = gateway.text("help", json!({"query": "web", "info": "list"})).await;
    for name in &tools {
        assert!(text.contains(&format!("- {name}\n")), "{name} in {text}");
    }
}

#[tokio::test]
async fn d8_the_card_of_a_large_pack_is_limited_and_says_how_to_list_the_rest() {
    let tools: Vec<String> = (0..3000).map(|number| format!("big.tool_{number}")).collect();
    let gateway = gateway_with(Setup { more_tools: tools, ..Setup::default() });
    for info in ["min", "full"] {
        let card = gateway.text("help", json!({"query": "big", "info": info})).await;
        assert!(card.len() < 16_000, "{} bytes", card.len());
        assert!(card.contains("## Tools (3000, local)"), "{card}");
        let more = "- … and 2950 more: ot.tools(pattern=\"big.\", info=\"list\") lists them all";
        assert!(card.contains(more), "{card}");
        assert!(card.contains("big.tool_49") && !card.contains("big.tool_50"), "{card}");
    }
    let all = gateway.data("tools", json!({"pattern": "big.", "info": "list"})).await;
    assert_eq!(all.as_array().unwrap().len(), 3000, "the suggested call lists all tools");
}

#[tokio::test]
async fn ot_12_9_min_has_short_descriptions() {
    let text = help("fetch", "min").await;
    assert!(text.contains("- web.fetch: Fetch a page.\n- web.fetch_batch: Fetch several pages."), "{text}");
}

#[tokio::test]
async fn ot_12_10_full_has_everything() {
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
async fn ot_12_12_without_matches_help_points_to_the_lists() {
    assert_eq!(
        help("xyzzy", "min").await,
        "No matches for 'xyzzy'. ot.tools() lists all tools, ot.packs() lists all packs."
    );
}
