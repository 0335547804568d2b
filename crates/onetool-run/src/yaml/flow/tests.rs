//! OT-7: the YAML output, and that an independent parser reads the same data back.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parsed(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn ot_7_1_a_simple_object_is_inline() {
    assert_eq!(
        to_text(&json!({"name": "a", "count": 3, "on": true, "none": null})),
        "{name: a, count: 3, \"on\": true, \"none\": null}"
    );
    assert_eq!(
        to_text(&json!({"aliases": {}, "snippets": {}, "servers": []})),
        "{aliases: {}, snippets: {}, servers: []}"
    );
    assert_eq!(to_text(&json!(["a", 1])), "[a, 1]");
    assert_eq!((to_text(&json!([])), to_text(&json!({}))), ("[]".into(), "{}".into()));
    assert_eq!(
        (to_text(&json!("a b")), to_text(&json!(1.5)), to_text(&json!(null))),
        ("a b".into(), "1.5".into(), "null".into())
    );
}

#[test]
fn ot_7_1_a_list_of_objects_is_a_block_sequence_of_flow_items() {
    let tools = json!([{"name": "a.x", "description": "Does x."}, {"name": "a.y", "description": "Does y, z: all", "args": ["q: what"]}]);
    assert_snapshot!(to_text(&tools), @r#"
    - {name: a.x, description: Does x.}
    - {name: a.y, description: "Does y, z: all", args: ["q: what"]}
    "#);
}

#[test]
fn d6_a_list_of_objects_is_a_block_sequence_below_a_key_too() {
    let stats = json!({"total_calls": 3, "tools": [{"tool": "a.x", "calls": 2}, {"tool": "a.y", "calls": 1}],
        "packs": [{"pack": "a", "tools": 2}], "none": [], "empty": [{}], "names": ["a", "b"],
        "nested": {"per_day": [{"day": "2026-01-31", "calls": 3}]}, "mixed": [1, {"a": 2}], "deep": [[{"b": 1}]]});
    assert_snapshot!(to_text(&stats), @r#"
    total_calls: 3
    tools:
      - {tool: a.x, calls: 2}
      - {tool: a.y, calls: 1}
    packs:
      - {pack: a, tools: 2}
    "none": []
    empty: [{}]
    names: [a, b]
    nested:
      per_day:
        - {day: "2026-01-31", calls: 3}
    mixed:
      - 1
      - {a: 2}
    deep:
      - - {b: 1}
    "#);
    assert_eq!(parsed(&to_text(&stats)), stats);
}

#[test]
fn d6_each_line_of_a_page_has_its_own_line() {
    let page =
        json!({"lines": ["a", "b: c", "  - d", "", "x".repeat(300)], "total_lines": 5, "tags": ["p", "q"]});
    let text = to_text_with_lines(&page, "lines");
    assert!(text.starts_with("lines:\n  - a\n  - \"b: c\"\n  - \"  - d\"\n  - \"\"\n  - xxx"), "{text}");
    assert!(text.ends_with("\ntotal_lines: 5\ntags: [p, q]"), "{text}");
    assert_eq!(parsed(&text), page);
    let none = json!({"lines": [], "total_lines": 0, "matches": [1]});
    assert_eq!(to_text_with_lines(&none, "lines"), "lines: []\ntotal_lines: 0\nmatches: [1]");
}

#[test]
fn ot_7_1_an_object_with_collections_is_one_line_per_key() {
    let health = json!({"version": "0.1.0", "cwd": "/srv/a", "registry": {"status": "ok", "tool_count": 3},
        "proxy": {"status": "ok", "servers": {"github": "connected"}}, "empty": []});
    assert_snapshot!(to_text(&health), @r#"
    version: "0.1.0"
    cwd: /srv/a
    registry: {status: ok, tool_count: 3}
    proxy: {status: ok, servers: {github: connected}}
    empty: []
    "#);
}

#[test]
fn ot_7_2_flow_style_nests_at_most_two_levels() {
    let deep = json!({"a": {"b": {"c": 1}}, "d": [{"e": [1, 2]}, [3, [4]]], "f": {"g": [{"h": {"i": [5]}}], "j": 6}});
    assert_snapshot!(to_text(&deep), @r"
    a: {b: {c: 1}}
    d:
      - {e: [1, 2]}
      - [3, [4]]
    f:
      g:
        - h: {i: [5]}
      j: 6
    ");
    assert_eq!(parsed(&to_text(&deep)), deep);
}

#[test]
fn ot_7_2_text_is_quoted_only_where_a_parser_needs_it() {
    let plain = [
        "a b",
        "it's",
        "a:b",
        "https://x/y?z",
        "5 apples",
        "-x",
        "a#b",
        "v1.2",
        "ü",
        "C:\\x",
        "a & b",
        "10%",
    ];
    for text in plain {
        assert_eq!(to_text(&json!(text)), text);
    }
    let quoted = [
        "",
        " a",
        "a ",
        "a: b",
        "a:",
        "a #b",
        "- a",
        "-",
        "?a",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'a'",
        "\"a\"",
        "%a",
        "@a",
        "`a`",
        "~",
        "null",
        "Yes",
        "no",
        "ON",
        "off",
        "y",
        "True",
        "1",
        "-1.5",
        ".5",
        "1e3",
        "0x1F",
        "0o17",
        "017",
        "1_000",
        "12:30",
        "2024-01-31",
        "2024-01-31T10:00:00Z",
        "0.1.0",
        "1.2.3-rc1",
        ".inf",
        "-.NaN",
        "+_1",
        "._",
        "---",
        "...",
        "<<",
        "=",
        "[a]",
        "{a}",
        ",a",
    ];
    for text in quoted {
        assert!(to_text(&json!(text)).starts_with('"'), "{text:?}");
    }
    assert_eq!(to_text(&json!(["a, b", "c?", "d"])), "[\"a, b\", \"c?\", d]");
    assert_eq!(to_text(&json!(["two\nlines\t\u{7}\u{2028}"])), r#"["two\nlines\t\u0007\u2028"]"#);
    assert_eq!(to_text(&json!([1e300, -2.5e-9, 1.0])), "[1.0e+300, -2.5e-9, 1.0]");
}

#[test]
fn r9_a_key_that_is_long_when_written_is_in_explicit_form() {
    // Found by fuzzing: a key with fewer than 1,024 characters, but more when escaped.
    let value = json!({"\n\u{7f}".repeat(300): [{"\t".repeat(700): 1}]});
    assert_eq!(parsed(&to_text(&value)), value);
    assert_eq!(parsed(&to_block(&value)), value);
    assert_eq!(parsed(&to_line(&value)), value);
}

#[test]
fn to_block_is_for_people() {
    let value = json!({"a": {"b": [1, "x\ny\n"]}, "c": [], "d": "one\n\ntwo", "e": [["p", {"q": 1}]]});
    assert_snapshot!(to_block(&value), @r"
    a:
      b:
        - 1
        - |
          x
          y
    c: []
    d: |-
      one

      two
    e:
      - - p
        - q: 1
    ");
    assert_eq!(parsed(&to_block(&value)), value);
}

/// Generates text that is awkward in YAML.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        ": ",
        ":",
        " #",
        "#",
        "- ",
        "-",
        "? ",
        "?",
        ", ",
        "[",
        "]",
        "{",
        "}",
        "&a",
        "*",
        "!",
        "|",
        ">",
        "'",
        "\"",
        "%",
        "@",
        "`",
        "\n",
        "\r",
        "\t",
        " ",
        "\\",
        "0",
        "1",
        "9",
        ".",
        "e",
        "x",
        "_",
        "yes",
        "null",
        "~",
        "true",
        "inf",
        "nan",
        "é",
        "😀",
        "\u{85}",
        "\u{a0}",
        "\u{feff}",
        "\u{2028}",
        "\u{0}",
        "\u{7f}",
        "\u{ffff}",
        "\u{1fffe}",
        "a",
        "b c",
        "---",
        "...",
        "<<",
        "=",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..6).prop_map(|it| it.concat()),
        any::<String>(),
        "[0-9+.:eExXoO_-]{1,8}",
        "[a-z]{1,3}".prop_map(|it| it.repeat(500)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has finite numbers only", |it| it.is_finite()).prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        text().prop_map(Value::from),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Generates values of any shape, without brackets in their text.
fn shape() -> impl Strategy<Value = Value> {
    any::<u8>().prop_map(Value::from).prop_recursive(6, 60, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,3}", inner, 0..4).prop_map(|it| it.into_iter().collect()),
        ]
    })
}

fn deepest_flow(text: &str) -> usize {
    let mut depth = 0_usize;
    let depths = text.chars().map(|c| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

fn has_object_in_flow_list(text: &str) -> bool {
    let mut open = Vec::new();
    for c in text.chars() {
        match c {
            '{' if open.last() == Some(&'[') => return true,
            '[' | '{' => open.push(c),
            ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn r9_ot_7_2_the_text_parses_back_to_the_same_data(value in value()) {
        let text = to_text(&value);
        prop_assert_eq!(parsed(&text), value, "{}", text);
    }

    #[test]
    fn r9_block_style_parses_back_to_the_same_data(value in value()) {
        let text = to_block(&value);
        prop_assert_eq!(parsed(&text), value, "{}", text);
    }

    #[test]
    fn r9_d6_lines_parse_back_to_the_same_data(lines in prop::collection::vec(text(), 0..6), rest in value()) {
        let page = json!({"lines": lines, "rest": rest});
        let text = to_text_with_lines(&page, "lines");
        prop_assert_eq!(parsed(&text), page, "{}", text);
    }

    #[test]
    fn d6_no_list_in_flow_style_contains_an_object(value in shape()) {
        let text = to_text(&value);
        // A list of empty objects is in flow style.
        prop_assert!(!has_object_in_flow_list(&text.replace("{}", "")), "{}", text);
    }

    #[test]
    fn ot_7_2_no_text_has_three_levels_of_flow_style(value in shape()) {
        let text = to_text(&value);
        prop_assert!(deepest_flow(&text) <= 2, "{}", text);
    }
}
