//! Stored results: what is stored, who may read it, and in which parts.

use std::sync::atomic::Ordering;

use onetool_core::clock::Timestamp;
use serde_json::json;

use super::*;
use crate::SqliteStore;

const NOON: Timestamp = Timestamp::from_millis(1_785_240_000_000);

struct Fixture {
    store: ResultStore,
    kept: Arc<SqliteStore>,
    clock: Clock,
    owner: Caller,
}

fn fixture() -> Fixture {
    let (kept, clock) = (Arc::new(SqliteStore::in_memory()), Clock::fake(NOON));
    let store = ResultStore::new(kept.clone(), clock.clone(), OutputOptions::default());
    Fixture { store, kept, clock, owner: Caller::default() }
}

impl Fixture {
    async fn put(&self, body: ResultBody) -> StoredResult {
        self.store.put(&self.owner, body).await.unwrap()
    }

    async fn put_text(&self, text: impl Into<String>) -> ResultHandle {
        self.put(ResultBody::Text(text.into())).await.handle
    }

    async fn query(&self, query: ResultQuery) -> Result<ResultPage, QueryError> {
        self.store.query(&self.owner, query).await
    }

    async fn search(
        &self,
        handle: &ResultHandle,
        search: &str,
        fuzzy: bool,
    ) -> Result<ResultPage, QueryError> {
        let search = Some(search.to_owned());
        self.query(ResultQuery { search, fuzzy, ..ResultQuery::new(handle.clone()) }).await
    }

    async fn path(&self, handle: &ResultHandle, path: &str) -> Result<String, String> {
        let query = ResultQuery { path: Some(path.to_owned()), ..ResultQuery::new(handle.clone()) };
        self.query(query).await.map(|page| page.lines.join("\n")).map_err(|error| error.to_string())
    }
}

fn numbered(lines: usize) -> String {
    let lines: Vec<String> = (1..=lines).map(|line| format!("line {line}")).collect();
    lines.join("\n") + "\n"
}

#[tokio::test]
async fn ot_13_1_the_first_hundred_lines() {
    let fixture = fixture();
    let handle = fixture.put_text(numbered(250)).await;
    let page = fixture.query(ResultQuery::new(handle)).await.unwrap();
    assert_eq!(
        (page.lines.len(), page.lines[0].as_str(), page.lines[99].as_str()),
        (100, "line 1", "line 100")
    );
}

#[tokio::test]
async fn ot_13_2_some_lines_further_on() {
    let fixture = fixture();
    let handle = fixture.put_text(numbered(250)).await;
    let page =
        fixture.query(ResultQuery { offset: 101, limit: 50, ..ResultQuery::new(handle) }).await.unwrap();
    assert_eq!(
        (page.lines.len(), page.lines[0].as_str(), page.lines[49].as_str()),
        (50, "line 101", "line 150")
    );
}

#[tokio::test]
async fn ot_13_3_only_matching_lines_and_a_bad_pattern_shows_where() {
    let fixture = fixture();
    let handle = fixture.put_text("ok 1\nerror 2\nok 3\nerror 4\nError 5\nerror 6").await;
    let page = fixture.search(&handle, "^error", false).await.unwrap();
    assert_eq!(page.lines, ["error 2", "error 4", "error 6"]);
    let search = Some("error".to_owned());
    let query = ResultQuery { offset: 2, limit: 1, search, ..ResultQuery::new(handle.clone()) };
    let page = fixture.query(query).await.unwrap();
    assert_eq!((page.lines.as_slice(), page.has_more), (["error 4".to_owned()].as_slice(), true));
    let error = fixture.search(&handle, "err(or", false).await.unwrap_err().to_string();
    assert!(error.contains("    err(or\n       ^\nerror: unclosed group"), "{error}");
}

#[tokio::test]
async fn ot_13_3_a_pattern_that_grows_beyond_measure_is_refused() {
    let fixture = fixture();
    let handle = fixture.put_text("a").await;
    let error = fixture.search(&handle, r"((\w{100}){100}){100}", false).await.unwrap_err();
    assert!(matches!(error, QueryError::Pattern { .. }), "{error}");
    assert!(fixture.search(&handle, "(a*)*b", false).await.unwrap().lines.is_empty());
}

#[tokio::test]
async fn ot_13_4_similar_lines_the_best_first() {
    let fixture = fixture();
    let text =
        "all fine\nconection refusd by peer\nconnection refused\nthe connections were refused\nnothing";
    let handle = fixture.put_text(text).await;
    let page = fixture.search(&handle, "Connection refused", true).await.unwrap();
    let expected = ["connection refused", "the connections were refused", "conection refusd by peer"];
    assert_eq!(page.lines, expected);
    assert_eq!(page.matches, Some(3));
    let needs = ResultQuery { fuzzy: true, ..ResultQuery::new(handle.clone()) };
    assert_eq!(
        fixture.query(needs).await.unwrap_err().to_string(),
        "fuzzy=True needs search='words to look for'"
    );
    assert!(fixture.search(&handle, "—", true).await.unwrap().lines.is_empty());
}

#[tokio::test]
async fn ot_13_5_an_unknown_handle_is_not_found() {
    let error = fixture().query(ResultQuery::new("nosuchhandle")).await.unwrap_err();
    assert_eq!(error.to_string(), "result not found: 'nosuchhandle'");
}

#[tokio::test]
async fn ot_13_6_a_handle_past_its_time_has_expired() {
    let fixture = fixture();
    let handle = fixture.put_text("a").await;
    fixture.clock.advance(Duration::from_secs(3599));
    fixture.query(ResultQuery::new(handle.clone())).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let error = fixture.query(ResultQuery::new(handle.clone())).await.unwrap_err();
    let expected = format!("result expired: '{handle}' is past its time to live; run the code again");
    assert_eq!(error.to_string(), expected);
    assert!(matches!(fixture.store.load(&fixture.owner, &handle).await, Err(QueryError::Expired { .. })));
}

#[tokio::test]
async fn run_5_3_expired_is_told_from_not_found_also_after_the_clean_up() {
    let fixture = fixture();
    let handle = fixture.put_text("a secret text").await;
    fixture.clock.advance(Duration::from_hours(2));
    // Storing something else cleans up; its job is done before the next one.
    fixture.put_text("b").await;
    let result = fixture.kept.result(&fixture.owner, &handle).await.unwrap().unwrap();
    assert_eq!(result.text, KeptText::Deleted);
    let expired = fixture.query(ResultQuery::new(handle.clone())).await;
    assert!(matches!(expired, Err(QueryError::Expired { .. })));
    fixture.clock.advance(Duration::from_hours(8 * 24));
    fixture.store.clean_up().await.unwrap();
    let forgotten = fixture.query(ResultQuery::new(handle)).await;
    assert!(matches!(forgotten, Err(QueryError::NotFound { .. })));
}

#[tokio::test]
async fn run_5_3_the_clean_up_runs_by_itself() {
    let fixture = fixture();
    let handle = fixture.put_text("a").await;
    fixture.clock.advance(Duration::from_hours(1));
    let cleaned = async {
        while fixture.kept.result(&fixture.owner, &handle).await.unwrap().unwrap().text != KeptText::Deleted {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = fixture.store.keep_clean() => {}
        () = cleaned => {}
    }
}

#[tokio::test]
async fn ot_13_7_the_page_says_where_it_stands() {
    let fixture = fixture();
    let handle = fixture.put_text(numbered(120)).await;
    let query = ResultQuery { offset: 101, ..ResultQuery::new(handle.clone()) };
    let page = serde_json::to_value(fixture.query(query).await.unwrap()).unwrap();
    let mut expected = json!({"total_lines": 120, "returned": 20, "offset": 101, "has_more": false});
    expected["lines"] = (101..=120).map(|line| format!("line {line}")).collect();
    assert_eq!(page, expected);
    let page = fixture.search(&handle, "line 11", false).await.unwrap();
    assert_eq!((page.total_lines, page.returned, page.matches), (120, 11, Some(11)));
    let beyond = fixture.query(ResultQuery { offset: 1000, ..ResultQuery::new(handle) }).await.unwrap();
    assert_eq!((beyond.returned, beyond.has_more), (0, false));
}

#[tokio::test]
async fn ot_13_8_offset_one_is_the_first_line() {
    let fixture = fixture();
    let handle = fixture.put_text(numbered(3)).await;
    let page = fixture.query(ResultQuery { offset: 1, limit: 1, ..ResultQuery::new(handle) }).await.unwrap();
    assert_eq!((page.lines.as_slice(), page.has_more), (["line 1".to_owned()].as_slice(), true));
}

#[tokio::test]
async fn ot_13_9_offset_zero_is_an_error() {
    let query = |offset| ResultQuery { offset, ..ResultQuery::new("any") };
    let error = fixture().query(query(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "offset must be >= 1 (1-indexed), got 0");
    let error = fixture().query(query(i64::MIN)).await.unwrap_err();
    assert!(matches!(error, QueryError::Offset(i64::MIN)));
}

#[tokio::test]
async fn ot_13_10_limit_zero_is_an_error() {
    let query = ResultQuery { limit: 0, ..ResultQuery::new("any") };
    let error = fixture().query(query).await.unwrap_err();
    assert_eq!(error.to_string(), "limit must be >= 1, got 0");
    let fixture = fixture();
    let handle = fixture.put_text(numbered(3)).await;
    let huge = ResultQuery { limit: i64::MAX, offset: i64::MAX, ..ResultQuery::new(handle) };
    assert_eq!(fixture.query(huge).await.unwrap().returned, 0);
}

#[tokio::test]
async fn s6_a_result_is_not_there_for_other_callers() {
    let fixture = fixture();
    let handle = fixture.put_text("mine").await;
    let others = [
        Caller { principal: "token".into(), ..Caller::default() },
        Caller { profile: "work".into(), ..Caller::default() },
    ];
    for other in others {
        let error = fixture.store.query(&other, ResultQuery::new(handle.clone())).await.unwrap_err();
        assert_eq!(error.to_string(), format!("result not found: '{handle}'"));
        assert!(matches!(fixture.store.load(&other, &handle).await, Err(QueryError::NotFound { .. })));
        assert_eq!(fixture.store.list(&other).await.unwrap(), []);
    }
    fixture.clock.advance(Duration::from_hours(2));
    let stranger = Caller { principal: "token".into(), ..Caller::default() };
    let error = fixture.store.query(&stranger, ResultQuery::new(handle)).await.unwrap_err();
    assert!(matches!(error, QueryError::NotFound { .. }), "nor has it expired for them");
}

#[tokio::test]
async fn s6_handles_are_short_and_all_different() {
    let handles: std::collections::HashSet<String> =
        (0..10_000).map(|_| ResultHandle::random().to_string()).collect();
    assert_eq!(handles.len(), 10_000);
    assert!(handles.iter().all(|it| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    // All letters are used at all places.
    for place in 0..16 {
        let letters: std::collections::HashSet<u8> = handles.iter().map(|it| it.as_bytes()[place]).collect();
        assert_eq!(letters.len(), 32);
    }
}

#[tokio::test]
async fn run_5_1_the_answer_tells_enough_and_is_small() {
    let fixture = fixture();
    let stored = fixture.put(ResultBody::Text(format!("{}\n{}", "x".repeat(500), numbered(9999)))).await;
    let answer = stored.answer();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["handle", "total_lines", "size_bytes", "summary", "preview", "query"]);
    assert_eq!(answer["total_lines"], 10_000);
    assert_eq!(answer["size_bytes"], stored.size_bytes);
    assert_eq!(answer["summary"], "text; 10000 lines, 99.4 KB");
    assert_eq!(answer["preview"].as_array().unwrap().len(), 10);
    assert_eq!(stored.preview[0].chars().count(), 200);
    assert_eq!(stored.preview[1], "line 1");
    assert_eq!(answer["query"], format!("ot.result(handle='{}', offset=1, limit=100)", stored.handle));
}

#[tokio::test]
async fn run_5_1_the_answer_stays_under_4_kb_whatever_is_in_it() {
    let (kept, clock) = (Arc::new(SqliteStore::in_memory()), Clock::fake(NOON));
    let options = OutputOptions { preview_lines: 100_000, ..OutputOptions::default() };
    let store = ResultStore::new(kept, clock, options);
    let nasty = ["\u{1}", "\"", "\\", "é", "語", "😀", "\u{200b}", "\u{202e}", "}", "'", "x"];
    for piece in nasty {
        for line in [piece.to_owned(), piece.repeat(150), piece.repeat(300)] {
            let keys: serde_json::Map<String, Value> =
                (0..50).map(|number| (format!("{}{number}", piece.repeat(50)), json!(line))).collect();
            let text = format!("{line}\n").repeat(1000);
            for body in
                [ResultBody::Text(text), ResultBody::Json(json!([keys])), ResultBody::Json(keys.into())]
            {
                let stored = store.put(&Caller::default(), body).await.unwrap();
                let pretty = serde_json::to_string_pretty(&stored.answer()).unwrap();
                assert!(pretty.len() < 4096, "{} bytes of {piece:?}", pretty.len());
            }
        }
    }
}

#[tokio::test]
async fn run_5_2_json_on_one_line_is_stored_in_lines_with_every_digit() {
    let fixture = fixture();
    let text =
        r#"{"id": 12345678901234567890123, "price":1.10,"tags":["a, b","]\"",{}],"none":[ ], "x":null}"#;
    let stored = fixture.put(ResultBody::Text(format!("{text}\n"))).await;
    let page = fixture.query(ResultQuery::new(stored.handle.clone())).await.unwrap();
    let expected = r#"{
  "id": 12345678901234567890123,
  "price": 1.10,
  "tags": [
    "a, b",
    "]\"",
    {}
  ],
  "none": [],
  "x": null
}"#;
    assert_eq!(page.lines.join("\n"), expected);
    assert_eq!(stored.total_lines, 11);
    assert_eq!(stored.summary, "JSON object with 5 keys: id, price, tags, none, x; 11 lines, 126 bytes");
    let loaded = fixture.store.load(&fixture.owner, &stored.handle).await.unwrap();
    assert_eq!(loaded["tags"], json!(["a, b", "]\"", {}]));
}

#[tokio::test]
async fn run_5_2_data_is_stored_as_serde_writes_it() {
    let fixture = fixture();
    let rows: Vec<Value> =
        (0..500).map(|id| json!({"id": id, "name": format!("\"n\\{id}\n"), "e": {}})).collect();
    let value = json!(rows);
    let stored = fixture.put(ResultBody::Json(value.clone())).await;
    let limit = i64::MAX;
    let page = fixture.query(ResultQuery { limit, ..ResultQuery::new(stored.handle.clone()) }).await.unwrap();
    assert_eq!(page.lines.join("\n"), serde_json::to_string_pretty(&value).unwrap());
    assert!(
        stored
            .summary
            .starts_with("JSON array of 500 items, the first with the keys: id, name, e; 2502 lines")
    );
    assert_eq!(fixture.store.load(&fixture.owner, &stored.handle).await.unwrap(), value);
}

#[tokio::test]
async fn text_that_is_no_object_or_array_stays_text() {
    let fixture = fixture();
    let deep = format!("[1,{}{}]", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["{not json", "12", "\"quoted\"", "", "{}{}", deep.as_str()] {
        let stored = fixture.put(ResultBody::Text(text.to_owned())).await;
        assert!(stored.summary.starts_with("text; "), "{}", stored.summary);
        assert_eq!(fixture.store.load(&fixture.owner, &stored.handle).await.unwrap(), json!(text));
    }
    let deepest = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let stored = fixture.put(ResultBody::Text(deepest.clone())).await;
    let loaded = fixture.store.load(&fixture.owner, &stored.handle).await.unwrap();
    assert_eq!(loaded.to_string(), deepest);
    // A string is text whichever way it comes, so that its lines can be paged.
    let stored = fixture.put(ResultBody::Json(json!("a\nb"))).await;
    assert_eq!((stored.total_lines, stored.preview), (2, vec!["a".into(), "b".into()]));
}

#[tokio::test]
async fn a_path_picks_a_part_and_names_what_is_missing() {
    let fixture = fixture();
    let value =
        json!({"a": {"b": [{"c": 1}, {"c": "two\nlines"}], "odd key.": true}, "list": [], "nothing": {}});
    let handle = fixture.put(ResultBody::Json(value)).await.handle;
    let picked = [
        ("a.b[0]", "{\n  \"c\": 1\n}"),
        ("a.b[-1].c", "two\nlines"),
        ("$.a.b[1]['c']", "two\nlines"),
        (r#"a["odd key."]"#, "true"),
        ("list", "[]"),
    ];
    for (path, expected) in picked {
        assert_eq!(fixture.path(&handle, path).await.as_deref(), Ok(expected), "{path}");
    }
    let missing = [
        ("a.x.y", "path 'a.x.y': there is no key 'x' in 'a'; it has b, odd key."),
        ("a.b[2]", "path 'a.b[2]': there is no item [2] in 'a.b', which has 2"),
        ("a.b[-3]", "path 'a.b[-3]': there is no item [-3] in 'a.b', which has 2"),
        ("a.b.c", "path 'a.b.c': there is no key 'c' in 'a.b', which is an array"),
        ("[0]", "path '[0]': there is no item [0] in the result, which is an object"),
        ("nothing.x", "path 'nothing.x': there is no key 'x' in 'nothing', which is empty"),
        ("a..b", "path 'a..b' cannot be read at '..b': write it like a.b[0] or a[\"odd key\"]"),
        ("a[b]", "path 'a[b]' cannot be read at '[b]': write it like a.b[0] or a[\"odd key\"]"),
        ("a['b", "path 'a['b' cannot be read at '['b': write it like a.b[0] or a[\"odd key\"]"),
    ];
    for (path, expected) in missing {
        assert_eq!(fixture.path(&handle, path).await.unwrap_err(), expected);
    }
    let text = fixture.put_text("plain").await;
    assert!(fixture.path(&text, "a").await.unwrap_err().contains("is text; use offset, limit or search"));
    let search = Some("two".to_owned());
    let query = ResultQuery { path: Some("a.b[1].c".into()), search, ..ResultQuery::new(handle) };
    let page = fixture.query(query).await.unwrap();
    assert_eq!((page.lines.len(), page.total_lines, page.matches), (1, 2, Some(1)));
}

#[tokio::test]
async fn l2_a_list_tells_nothing_of_the_content() {
    let fixture = fixture();
    let handle = fixture.put(ResultBody::Json(json!({"canary-4711": "canary-4711"}))).await.handle;
    fixture.clock.advance(Duration::from_secs(1));
    let second = fixture.put_text("canary-4711").await;
    let list = fixture.store.list(&fixture.owner).await.unwrap();
    assert_eq!(list.iter().map(|it| &it.handle).collect::<Vec<_>>(), [&second, &handle], "newest first");
    assert!(!serde_json::to_string(&list).unwrap().contains("canary"));
    assert_eq!((list[1].is_json, list[1].expires_at), (true, NOON.after(Duration::from_hours(1))));
}

/// Stores a text that comes in pieces of the given size.
async fn streamed(fixture: &Fixture, text: &str, is_json: bool, piece: usize) -> Result<String, String> {
    let mut stream = onetool_core::OverflowStore::begin(&fixture.store, &fixture.owner, is_json);
    for piece in text.as_bytes().chunks(piece) {
        stream.write(piece).await.map_err(|error| error.to_string())?;
    }
    let answer = stream.finish().await.map_err(|error| error.to_string())?;
    Ok(answer["handle"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn o6_a_result_in_pieces_is_the_same_as_in_one() {
    let fixture = fixture();
    let lines: Vec<String> = (0..60_000).map(|number| format!("größe {number} {}", "·".repeat(20))).collect();
    let text = lines.join("\n");
    assert!(text.len() > 3 << 20, "several parts");
    for piece in [7_919, 1 << 22] {
        let handle = streamed(&fixture, &text, false, piece).await.unwrap();
        let whole = fixture.store.load(&fixture.owner, &handle.as_str().into()).await.unwrap();
        assert!(whole == json!(text), "cut at {piece}");
        for offset in [1, 20_000, 59_990, 60_000, 70_000] {
            let query = ResultQuery { offset, limit: 25, ..ResultQuery::new(handle.as_str()) };
            let page = fixture.query(query.clone()).await.unwrap();
            let (stop, _guard) = Stop::new(SEARCH_LIMIT);
            assert_eq!(page, query.page(&text, false, &stop).unwrap(), "line {offset}");
        }
        let found = fixture.search(&handle.as_str().into(), "größe 4321[0-4] ", false).await.unwrap();
        assert_eq!(found.matches, Some(5));
    }
}

#[tokio::test]
async fn o6_json_in_pieces_is_spread_over_lines_and_can_be_picked_from() {
    let fixture = fixture();
    let items: Vec<_> = (0..50_000).map(|number| json!({"number": number, "text": "x".repeat(30)})).collect();
    let json = json!({"items": items}).to_string();
    let handle: ResultHandle = streamed(&fixture, &json, true, 100_003).await.unwrap().as_str().into();
    assert_eq!(fixture.path(&handle, "items[49999].number").await.unwrap(), "49999");
    let page = fixture.query(ResultQuery { offset: 3, limit: 2, ..ResultQuery::new(handle) }).await.unwrap();
    assert_eq!(page.lines, ["    {", "      \"number\": 0,"]);
}

#[tokio::test]
async fn o6_bytes_that_are_no_text_and_lines_without_end_are_taken_as_well() {
    let fixture = fixture();
    let mut stream = onetool_core::OverflowStore::begin(&fixture.store, &fixture.owner, false);
    let mut bytes = "é".repeat(1_200_000).into_bytes();
    bytes.extend([b'a', 0xff, b'b', 0xc3]);
    for piece in bytes.chunks(1_001) {
        stream.write(piece).await.unwrap();
    }
    let answer = stream.finish().await.unwrap();
    assert_eq!(answer["total_lines"], 1201, "a long line counts as several: {}", answer["summary"]);
    let whole = fixture.store.load(&fixture.owner, &answer["handle"].as_str().unwrap().into()).await.unwrap();
    assert!(whole.as_str().unwrap().ends_with("éa\u{fffd}b\u{fffd}"));
}

#[tokio::test]
async fn o6_a_result_that_is_given_up_or_expires_leaves_nothing_behind() {
    let fixture = fixture();
    let text = numbered(300_000);
    let mut stream = onetool_core::OverflowStore::begin(&fixture.store, &fixture.owner, false);
    stream.write(text.as_bytes()).await.unwrap();
    drop(stream);
    let parts = async |handle: &str| {
        let parts = fixture.kept.result_parts(&fixture.owner, &handle.into(), 0..usize::MAX);
        parts.await.unwrap().len()
    };
    let handle = streamed(&fixture, &text, false, 1 << 20).await.unwrap();
    assert!(parts(&handle).await > 1);
    assert_eq!(fixture.kept.part_count().await, parts(&handle).await, "those given up are gone");
    fixture.clock.advance(Duration::from_hours(2));
    fixture.store.clean_up().await.unwrap();
    assert_eq!(fixture.kept.part_count().await, 0);
    let expired = fixture.query(ResultQuery::new(handle.as_str())).await.unwrap_err();
    assert!(matches!(expired, QueryError::Expired { .. }), "{expired}");
}

#[tokio::test]
async fn h12_the_worker_of_a_search_stops_when_its_caller_is_gone() {
    let fixture = fixture();
    let word = |number: usize| format!("{number:x}{}", "ab".repeat(28));
    let text: Vec<String> = (0..100_000).map(word).collect();
    let handle = fixture.put_text(text.join("\n")).await;
    // Sixteen words of sixty letters, none of which is there: minutes of work.
    let words: Vec<String> = (0..16).map(|number| format!("{number:x}{}", "ba".repeat(28))).collect();
    let words = words.join(" ");
    let probe = &fixture.store.0.probe;
    let begun = async {
        while probe.begun.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        found = fixture.search(&handle, &words, true) => panic!("ended too early: {found:?}"),
        () = begun => {}
    }
    while probe.given_up.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn h12_searches_wait_for_each_other_and_pages_do_not_wait_for_searches() {
    let fixture = fixture();
    let handle = fixture.put_text("a\nb").await;
    let seats = fixture.store.0.searches.acquire_many(u32::try_from(MAX_SEARCHES).unwrap()).await.unwrap();
    fixture.query(ResultQuery::new(handle.clone())).await.unwrap();
    let mut search = Box::pin(fixture.search(&handle, "b", false));
    assert!(futures::poll!(&mut search).is_pending());
    fixture.query(ResultQuery::new(handle.clone())).await.unwrap();
    assert!(futures::poll!(&mut search).is_pending());
    drop(seats);
    assert_eq!(search.await.unwrap().lines, ["b"]);
}

#[tokio::test]
async fn l7_a_result_of_long_lines_is_paged_and_searched_by_its_pieces() {
    let fixture = fixture();
    let text = (0..3).map(|line| format!("{line}{}", "x".repeat(17_000))).collect::<Vec<_>>().join("\n");
    let stored = fixture.put(ResultBody::Text(text.clone())).await;
    assert_eq!(stored.total_lines, 54);
    assert!(
        stored.summary.contains("54 lines (long ones split every 1000 characters)"),
        "{}",
        stored.summary
    );
    let streamed = streamed(&fixture, &text, false, 5_003).await.unwrap();
    for handle in [stored.handle, streamed.as_str().into()] {
        let mut lines = Vec::new();
        loop {
            let offset = i64::try_from(lines.len()).unwrap() + 1;
            let query = ResultQuery { offset, limit: 10, ..ResultQuery::new(handle.clone()) };
            let page = fixture.query(query).await.unwrap();
            assert_eq!((page.total_lines, page.returned, page.offset), (54, page.lines.len(), offset));
            assert!(page.note.unwrap().contains("split"));
            lines.extend(page.lines);
            if !page.has_more {
                break;
            }
        }
        assert_eq!(lines.len(), 54);
        assert_eq!(lines.concat(), text.replace('\n', ""));
        let page = fixture.search(&handle, "^1x", false).await.unwrap();
        assert_eq!((page.matches, page.total_lines), (Some(1), 54));
        assert_eq!(
            fixture.store.load(&fixture.owner, &handle).await.unwrap(),
            json!(text),
            "stored as it was"
        );
    }
}

#[tokio::test]
async fn h5_a_result_that_is_large_in_memory_is_read_in_parts_and_not_loaded() {
    let fixture = fixture();
    let handle = fixture.put_text(format!("[{}1]", "1,".repeat(4_000_000))).await;
    let error = fixture.store.load(&fixture.owner, &handle).await.unwrap_err().to_string();
    let advice = format!("read it in parts with ot.result(handle='{handle}', offset=1)");
    assert!(error.ends_with(&advice), "{error}");
    assert_eq!(fixture.query(ResultQuery::new(handle)).await.unwrap().returned, 100);
}
