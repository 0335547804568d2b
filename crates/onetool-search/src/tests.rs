//! Tests of search results: which tools are found, their order and explanations, and that updates leave no traces.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn document<'a>(name: &'a str, description: &'a str) -> Document<'a> {
    let pack = name.split_once('.').map_or("", |(pack, _)| pack);
    Document { name, description, pack, ..Document::default() }
}

fn index(tools: &[(&str, &str)]) -> Index {
    let mut index = Index::new();
    for (name, description) in tools {
        index.insert(&document(name, description));
    }
    index
}

fn names(index: &Index, query: &str) -> Vec<String> {
    index.search(query, 10).into_iter().map(|hit| hit.name.to_string()).collect()
}

fn schema(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

const TOOLS: &[(&str, &str)] = &[
    ("registry_list", "List tasks of the registry"),
    ("registry_add", "Add a task to the registry"),
    ("brave.web_search", "Search the web with Brave"),
    ("web.fetch", "Fetch a page and return its text"),
    ("mail.send", "Send an email to a person"),
    ("weather.getForecast", "Get the weather of the next days"),
    ("files.delete", "Delete a file permanently"),
    ("db.query", "Run a statement against a database"),
];

#[test]
fn find_5_1_terms_come_from_names_and_descriptions_and_rare_ones_count_more() {
    let index = index(TOOLS);
    let hit = &index.search("registry list tasks", 1)[0];
    assert_eq!(&*hit.name, "registry_list");
    let terms: Vec<(&str, Field, MatchKind)> =
        hit.explanation.terms.iter().map(|it| (&*it.term, it.field, it.kind)).collect();
    assert!(terms.contains(&("registri", Field::Name, MatchKind::Exact)), "{terms:?}");
    assert!(terms.contains(&("task", Field::Description, MatchKind::Exact)), "{terms:?}");
    // The same word weighs less if more tools have it.
    let part = |tools: &[(&str, &str)]| self::index(tools).search("alpha", 1)[0].explanation.terms[0].part;
    assert!(part(&[("a", "alpha"), ("b", "beta")]) > part(&[("a", "alpha"), ("b", "alpha")]));
}

#[test]
fn find_5_2_every_tool_is_scored_and_the_best_comes_first() {
    let index = index(TOOLS);
    let hits = index.search("registry list tasks", 10);
    assert_eq!(&*hits[0].name, "registry_list");
    assert_eq!(&*hits[1].name, "registry_add");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    assert!(hits.iter().all(|hit| hit.score > 0.0));
    assert_eq!(index.search("registry list tasks", 1).len(), 1);
}

#[test]
fn queries_find_the_right_tool() {
    let index = index(TOOLS);
    let cases = [
        ("searching webs", "brave.web_search", "stems"),
        ("get forecasts", "weather.getForecast", "camelCase is split"),
        ("GETFORECAST", "weather.getForecast", "camelCase is also kept whole"),
        ("remove a file", "files.delete", "verbs with the same meaning"),
        ("forcast", "weather.getForecast", "a letter is missing"),
        ("databsae", "db.query", "two letters are swapped"),
        ("emial", "mail.send", "a typo of a word in a description"),
        ("brave.web_search", "brave.web_search", "the canonical name"),
        ("brave_web_search", "brave.web_search", "the flat name"),
        ("please can you send mail for me", "mail.send", "stop words are ignored"),
    ];
    for (query, expected, why) in cases {
        assert_eq!(names(&index, query).first().map(String::as_str), Some(expected), "{query}: {why}");
    }
    assert!(names(&index, "xyzzy").is_empty());
}

#[test]
fn matches_have_a_kind() {
    let index = index(&[("getweather", "It rains"), ("fetch_rain", "Drops")]);
    let kinds = |query: &str| -> Vec<(String, MatchKind)> {
        let hits = index.search(query, 10);
        hits.iter().flat_map(|hit| &hit.explanation.terms).map(|it| (it.term.to_string(), it.kind)).collect()
    };
    assert_eq!(kinds("weather"), [("getweath".to_owned(), MatchKind::Substring)]);
    assert_eq!(kinds("read"), [("fetch".to_owned(), MatchKind::Verb)]);
    assert_eq!(kinds("dropps"), [("drop".to_owned(), MatchKind::Typo)]);
    // A word that a tool has is not a typo.
    assert_eq!(kinds("fetch"), [("fetch".to_owned(), MatchKind::Exact)]);
}

#[test]
fn a_term_counts_in_its_field() {
    let in_schema = |name: &str, description: &str| {
        schema(json!({"properties": {name: {"type": "string", "description": description}}}))
    };
    let (named, described) = (in_schema("zebra", "x"), in_schema("y", "zebra"));
    let keywords = ["zebra".to_owned()];
    let base = Document { description: "something else entirely", ..Document::default() };
    let cases = [
        (Document { name: "zebra", ..base }, Field::Name),
        (Document { name: "a", description: "zebra", ..base }, Field::Description),
        (Document { name: "a", input_schema: Some(&named), ..base }, Field::ParameterNames),
        (Document { name: "a", input_schema: Some(&described), ..base }, Field::ParameterTexts),
        (Document { name: "zebra.a", pack: "zebra", ..base }, Field::Pack),
        (Document { name: "a", pack: "b", pack_description: "zebra", ..base }, Field::Pack),
        (Document { name: "a", keywords: &keywords, ..base }, Field::Keywords),
        (Document { name: "a", category: Some("zebra"), ..base }, Field::Keywords),
        (Document { name: "a", remembered: &keywords, ..base }, Field::Remembered),
    ];
    for (document, field) in cases {
        let mut index = Index::new();
        index.insert(&document);
        let hits = index.search("zebra", 5);
        assert_eq!(hits[0].explanation.terms[0].field, field, "{document:?}");
    }
    let index = index(&[("zebra", "one"), ("other", "zebra one")]);
    assert_eq!(names(&index, "zebra"), ["zebra", "other"]);
}

#[test]
fn ties_are_broken_by_name() {
    let index = index(&[("c", "same text"), ("a", "same text"), ("b", "same text")]);
    assert_eq!(names(&index, "same text"), ["a", "b", "c"]);
}

#[test]
fn a_tool_that_matches_one_sentence_well_gets_a_bonus() {
    let index = index(TOOLS);
    let hits = index.search("Search the web for Brave. Then send an email to a person.", 2);
    let found: HashSet<&str> = hits.iter().map(|hit| &*hit.name).collect();
    assert_eq!(found, HashSet::from(["brave.web_search", "mail.send"]));
    assert!(hits.iter().all(|hit| hit.explanation.segment > 0.0));
    assert!(index.search("search the web for Brave", 1)[0].explanation.segment <= 0.0);
}

#[test]
fn values_count_less_than_other_words() {
    let index = index(&[("beta", "One thing, 42 times"), ("zeta", "One thing, 7 times")]);
    assert_eq!(names(&index, "zeta 42"), ["zeta", "beta"]);
    assert_eq!(names(&index, "42"), ["beta"]);
    assert_eq!(names(&index, "zeta beta"), ["beta", "zeta"]);
    for address in ["https://example.org/beta", "/home/beta", "(./beta/x.txt)", "beta@example.org"] {
        assert_eq!(names(&index, &format!("zeta {address}")), ["zeta", "beta"], "{address}");
        assert_eq!(names(&index, address), ["beta"], "{address}");
    }
}

#[test]
fn the_parts_of_a_score_add_up_to_it() {
    let index = index(TOOLS);
    for query in
        ["registry list tasks", "Search the web. Then send an emial to a person", "get forecast", "the"]
    {
        for hit in index.search(query, 10) {
            let Explanation { terms, name, phrases, segment } = &hit.explanation;
            let sum = terms.iter().map(|it| it.part).sum::<f64>() + name + phrases + segment;
            assert!((sum - hit.score).abs() < 1e-9, "{query}: {sum} {}", hit.score);
        }
    }
}

#[test]
fn removed_tools_leave_no_trace() {
    let queries = ["registry list", "weather", "mail a person", "forcast", "web search. then list the files"];
    let never = index(TOOLS);
    let mut changed = Index::new();
    changed.insert(&document("web.crawl", "Search the web and list every weather page, zebra by zebra"));
    TOOLS.iter().rev().for_each(|(name, description)| changed.insert(&document(name, description)));
    changed.insert(&document("mail.list", "List mails and forecasts of zebras"));
    changed.insert(&document("web.fetch", "A description that is replaced"));
    changed.insert(&document("web.fetch", "Fetch a page and return its text"));
    assert!(changed.remove("web.crawl") && changed.remove("mail.list"));
    assert!(!changed.remove("mail.list") && !changed.contains("mail.list"));
    assert_eq!(changed.len(), never.len());
    for query in queries {
        assert_eq!(changed.search(query, 10), never.search(query, 10), "{query}");
    }
    // The words of removed tools are unknown again.
    assert!(names(&changed, "zebra").is_empty());
    for (name, _) in TOOLS {
        assert!(changed.remove(name));
    }
    assert!(changed.is_empty() && names(&changed, "weather").is_empty());
}

#[test]
fn a_remembered_query_finds_its_tool() {
    let mut index = index(TOOLS);
    let before = index.search("web page", 10);
    assert!(names(&index, "umbrella tomorrow").is_empty());
    let queries = ["do I take an umbrella tomorrow".to_owned(), "UMBRELLA, tomorrow: take?".to_owned()];
    assert!(index.set_remembered("weather.getForecast", &queries));
    assert_eq!(names(&index, "umbrella tomorrow"), ["weather.getForecast"]);
    // A query with the same words counts once.
    let once = index.search("umbrella", 1)[0].score;
    assert!(index.set_remembered("weather.getForecast", &queries[..1]));
    assert!((index.search("umbrella", 1)[0].score - once).abs() < 1e-12);
    // Only the latest count.
    let many: Vec<String> = (0..=MAX_REMEMBERED).map(|number| format!("question{number}")).collect();
    assert!(index.set_remembered("weather.getForecast", &many));
    assert!(names(&index, "umbrella").is_empty());
    let hit = index.search("question10 question0", 1).remove(0);
    assert!(!hit.explanation.terms.iter().any(|it| &*it.term == "question0"));
    assert!(index.set_remembered("weather.getForecast", &[]));
    assert_eq!(index.search("web page", 10), before);
    assert!(!index.set_remembered("no.such", &queries));
}

#[test]
fn other_languages_are_searched_too() {
    let index = index(&[
        ("files.list", "Показывает список файлов в папке"),
        ("weather", "查询城市的天气预报"),
        ("mail", "メールを送信する"),
        ("cafe", "Réserve une table au café"),
        ("arzt", "Termin beim Ärzteverzeichnis"),
        ("sked", "เรียกดูตารางเวลา"),
    ]);
    let cases = [
        ("файлы папки", "files.list"),
        ("天气", "weather"),
        ("北京天气怎么样", "weather"),
        ("送信", "mail"),
        ("cafe reserve", "cafe"),
        ("ärzteverzeichnis", "arzt"),
        ("ตาราง", "sked"),
    ];
    for (query, expected) in cases {
        assert_eq!(names(&index, query).first().map(String::as_str), Some(expected), "{query}");
    }
}

#[test]
fn unusual_input_is_handled() {
    let long = "x".repeat(300);
    let mut index = index(&[("help", ""), ("about_us", ""), ("🦀", "🦀"), ("", ""), (&long, "long")]);
    assert_eq!(names(&index, "help"), ["help"]);
    assert_eq!(names(&index, "please help me"), ["help"]);
    assert_eq!(names(&index, &long), [&*long]);
    for query in ["", " \n\t", "🦀", "\u{0}\u{7f}\u{202e}", "...", "a"] {
        assert!(names(&index, query).is_empty(), "{query:?}");
    }
    assert!(index.search("help", 0).is_empty());
    assert_eq!(index.search("help", 1_000_000_000).len(), 1);
    assert!(Index::new().search("help", 5).is_empty());
    assert!(index.remove(&long));

    // Tools beyond those with a detailed score are returned too, in order.
    for number in 0..500 {
        index.insert(&document(&format!("tool{number:03}"), "alpha beta"));
    }
    let hits = index.search("alpha", usize::MAX);
    assert_eq!(hits.len(), 500);
    assert!(hits.is_sorted_by(|a, b| (b.score, &a.name) < (a.score, &b.name)));
}

#[test]
fn a_huge_query_is_truncated() {
    let index = index(TOOLS);
    let huge = "registry list. Then mail! ".repeat(4000);
    assert_eq!(names(&index, &huge)[0], "registry_list");
    let late = format!("{} weather", "registry ".repeat(20_000));
    assert!(!names(&index, &late).contains(&"weather.getForecast".to_owned()));
}

#[test]
fn schemas_are_indexed_to_three_levels() {
    let schema = schema(json!({
        "properties": {
            "city": {"description": "A city", "enum": ["Paris", 7, "Rome"]},
            "list": {"type": "array", "items": {"description": "One", "properties": {"second": {
                "properties": {"third": {"description": "deep", "properties": {"fourth": {"description": "no"}}}}}}}},
            "choice": {"anyOf": [{"const": "left"}, {"$ref": "#/$defs/Other"}]},
            "odd": true,
        },
        "$defs": {"Other": {"description": "other", "items": {"$ref": "#/$defs/Other"}}},
    }));
    let parameters = Parameters::from_schema(&schema);
    assert_eq!(parameters.names, ["city", "list", "second", "third", "choice", "odd"]);
    assert_eq!(parameters.texts[..6], ["A city", "Paris", "Rome", "One", "deep", "left"]);
    // A recursive reference terminates.
    assert!(parameters.texts[6..].iter().all(|text| *text == "other") && parameters.texts.len() < 20);
    for odd in [json!({}), json!({"properties": 1, "items": [], "anyOf": {}, "enum": "x", "$ref": "#"})] {
        assert_eq!(Parameters::from_schema(&self::schema(odd)), Parameters::default());
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,60}",
        "[a-zA-Zа-яё0-9_.天气한글ไทยαβγعربي' ]{0,40}",
        "(get|List|weather|. Then |é|ab12C){0,8}"
    ]
}

proptest! {
    #[test]
    fn no_input_panics_and_order_does_not_matter(
        texts in prop::collection::vec((any_text(), any_text()), 0..12),
        queries in prop::collection::vec(any_text(), 1..4),
        removed in prop::collection::vec(any::<bool>(), 12),
    ) {
        let tools: Vec<(String, &str)> =
            (0..).zip(&texts).map(|(number, (name, text))| (format!("{name}{number}"), &**text)).collect();
        let kept = |at: &usize| !removed[*at];
        let mut forwards = Index::new();
        for at in (0..tools.len()).filter(kept) {
            forwards.insert(&document(&tools[at].0, tools[at].1));
        }
        let mut backwards = Index::new();
        for (name, text) in tools.iter().rev() {
            backwards.insert(&document(name, text));
        }
        for (_, (name, _)) in tools.iter().enumerate().filter(|(at, _)| removed[*at]) {
            prop_assert!(backwards.remove(name));
        }
        for query in &queries {
            prop_assert_eq!(forwards.search(query, 100), backwards.search(query, 100));
        }
    }
}
