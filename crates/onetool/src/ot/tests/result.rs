//! Tests of `ot.result` and `ot.load`, with a real store.

use super::*;

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
    assert_eq!(lines(&gateway, second).await, ["error 200"], "offset and limit count matching lines");
    let (kind, message) = gateway.raised("result", json!({"handle": handle, "search": "a("})).await;
    assert_eq!(kind, "ValueError");
    assert!(message.contains("a(\n") && message.contains('^'), "shows where: {message}");
}

#[tokio::test]
async fn ot_13_4_fuzzy_search_returns_the_best_lines_first() {
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
    gateway.host.clock.advance(*OutputOptions::default().result_ttl + Duration::from_secs(1));
    let (kind, message) = gateway.raised("result", json!({"handle": handle})).await;
    assert_eq!(kind, "ValueError");
    let expected = format!("result expired: '{handle}' is past its time to live; run the code again");
    assert_eq!(message, expected);
}

#[tokio::test]
async fn ot_13_7_a_page_is_data() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Text("a\nb: c\nd".into())).await;
    assert_snapshot!(gateway.text("result", json!({"handle": handle, "limit": 2})).await, @r#"
    lines:
      - a
      - "b: c"
    total_lines: 3
    returned: 2
    offset: 1
    has_more: true
    "#);
    assert_snapshot!(gateway.text("result", json!({"handle": handle, "search": "a|d"})).await, @r"
    lines:
      - a
      - d
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
async fn a_path_selects_part_of_stored_json() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Json(json!({"a": [{"b": "x\ny"}]}))).await;
    assert_eq!(lines(&gateway, json!({"handle": handle, "path": "a[0].b"})).await, ["x", "y"]);
}

#[tokio::test]
async fn a_loaded_result_is_data_or_text() {
    let gateway = gateway();
    let handle = gateway.stored(ResultBody::Json(json!({"a": [1]}))).await;
    assert_eq!(gateway.data("load", json!({"handle": handle})).await, json!({"a": [1]}));
    let handle = gateway.stored(ResultBody::Text("no { JSON".into())).await;
    let output = gateway.call("load", json!({"handle": handle})).await.unwrap();
    assert_eq!(output.structured_content, Some(json!("no { JSON")));
    assert_eq!(output.content[0].as_text(), Some("no { JSON"));
}

#[tokio::test]
async fn l7_a_page_is_limited_to_the_maximum_inline_size() {
    let store = ResultStore::new(Arc::new(MemoryStore::default()), Clock::system(), OutputOptions::default());
    let owner = onetool_core::Caller::default();
    for piece in ["x", "é", "\u{1}", "😀", "\"", "\u{202e}"] {
        let handle = {
            let text = format!("{}\n", piece.repeat(900)).repeat(300);
            store.put(&owner, ResultBody::Text(text)).await.unwrap().handle
        };
        let mut seen = 0;
        while seen < 300 {
            let offset = i64::try_from(seen).unwrap() + 1;
            let query =
                ResultQuery { offset, limit: 300, max_size: 50_000, ..ResultQuery::new(handle.clone()) };
            let page = store.query(&owner, query).await.unwrap();
            assert_eq!(page.has_more, seen + page.returned < 300);
            seen += page.returned;
            let note = page.note.clone().unwrap_or_default();
            let next = format!("cut to fit output.max_inline_size, continue with offset={}", seen + 1);
            assert_eq!(note, if page.has_more { next } else { String::new() });
            let data = json!(page);
            let yaml = onetool_run::yaml::to_text_with_lines(&data, "lines");
            for text in [yaml, serde_json::to_string_pretty(&data).unwrap()] {
                assert!(text.len() <= 50_000, "{} bytes of {piece:?}", text.len());
            }
        }
        assert_eq!(seen, 300);
        let tiny = ResultQuery { max_size: 1, ..ResultQuery::new(handle) };
        assert_eq!(store.query(&owner, tiny).await.unwrap().returned, 1, "a page has at least one line");
    }
}
