//! Plain and quoted scalars, and the types that they are read as.

use serde_json::{Value, json};

use super::{message, value};

#[test]
fn a_plain_scalar_is_unchanged_where_text_is_expected() {
    let text: Vec<String> = value("v: [010, true, -n, 1.10, 1e3, 18446744073709551616, 0x1F]").unwrap();
    assert_eq!(text, ["010", "true", "-n", "1.10", "1e3", "18446744073709551616", "0x1F"]);
}

#[test]
fn numbers_follow_the_core_schema() {
    let text =
        "v: [0x1F, 0o17, -1, +1.5e1, .5, 18446744073709551615, 0x-1, .inf, 1-2, ~, 'true', yes, !!str 1]";
    let expected = json!([
        31,
        15,
        -1,
        15.0,
        0.5,
        18_446_744_073_709_551_615_u64,
        "0x-1",
        ".inf",
        "1-2",
        null,
        "true",
        "yes",
        "1"
    ]);
    assert_eq!(value::<Value>(text).unwrap(), expected);
}

#[test]
fn only_the_spellings_of_the_core_schema_are_null_or_booleans() {
    let text = "v: [null, Null, NULL, ~, true, True, TRUE, false, False, FALSE, nULL, tRue, on, no]";
    let expected =
        json!([null, null, null, null, true, true, true, false, false, false, "nULL", "tRue", "on", "no"]);
    assert_eq!(value::<Value>(text).unwrap(), expected);
    assert_eq!(value::<Option<String>>("v:").unwrap(), None);
    assert_eq!(value::<String>("v: 'null'").unwrap(), "null");
}

#[test]
fn block_scalars_and_anchors_are_expanded() {
    let text = "v:\n  a: &a |\n    one\n    two\n  b: *a\n  c: >-\n    three\n    four\n";
    assert_eq!(
        value::<Value>(text).unwrap(),
        json!({"a": "one\ntwo\n", "b": "one\ntwo\n", "c": "three four"})
    );
}

#[test]
fn messages_name_both_types_without_quoting_the_value() {
    assert_eq!(message::<u64>("v: abc"), "'v' must be a whole number, 0 or more, not text");
    assert_eq!(message::<u32>("v: -1"), "'v' must be a whole number, 0 or more, not a negative number");
    assert_eq!(
        message::<usize>("v: 1.5"),
        "'v' must be a whole number, 0 or more, not a number with a fraction"
    );
    assert_eq!(message::<u64>("v: '1'"), "'v' must be a whole number, 0 or more, not text");
    assert_eq!(message::<i32>("v: [1]"), "'v' must be a whole number, not a list");
    assert_eq!(message::<f64>("v: abc"), "'v' must be a number, not text");
    assert_eq!(message::<bool>("v: 1"), "'v' must be true or false, not a whole number");
    assert_eq!(message::<String>("v: {a: b}"), "'v' must be text, not a map");
    assert_eq!(message::<String>("v:"), "'v' must be text, not empty");
    assert_eq!(message::<Vec<String>>("v: a"), "'v' must be a list, not text");
    assert_eq!(message::<Vec<u64>>("v: [1, a]"), "'v[1]' must be a whole number, 0 or more, not text");
}

#[test]
fn a_number_that_is_out_of_range_is_called_too_large() {
    assert_eq!(message::<u16>("v: 65536"), "'v': the number is too large");
    assert_eq!(message::<u32>("v: 4294967296"), "'v': the number is too large");
    assert_eq!(value::<u16>("v: 65535").unwrap(), 65535);
}

#[test]
fn enums_are_read_from_their_names() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Low,
        High,
    }
    assert_eq!(value::<Vec<Level>>("v: [low, 'high']").unwrap(), [Level::Low, Level::High]);
    assert_eq!(message::<Level>("v: middle"), "'v': must be one of low, high");
}

#[test]
fn a_struct_is_read_from_a_map_only() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        across: u64,
        #[serde(default)]
        down: u64,
    }
    let point: Point = value("v: {across: 1}").unwrap();
    assert_eq!((point.across, point.down), (1, 0));
    assert_eq!(message::<Point>("v: [1, 2]"), "'v' must be a map, not a list");
    assert_eq!(message::<Point>("v: 1"), "'v' must be a map, not a whole number");
    assert_eq!(message::<Point>("v: {down: 1}"), "missing key 'across' in 'v'");
    assert_eq!(message::<Point>("v: {acros: 1}"), "unknown key 'acros' in 'v', did you mean 'across'?");
    assert_eq!(
        message::<Vec<Point>>("v: [{across: a}]"),
        "'v[0].across' must be a whole number, 0 or more, not text"
    );
}
