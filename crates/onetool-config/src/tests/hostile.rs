//! Files that try to break the parser: deep nesting, aliases that multiply, malformed YAML.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::{Files, test_env};
use crate::{Document, parse_text, read_as_written};

fn error(text: &str) -> String {
    parse_text(text, "/onetool.yaml".as_ref(), &test_env).unwrap_err().to_string()
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| format!("v: {}{}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    parse_text(&nested(64), "/onetool.yaml".as_ref(), &test_env).unwrap();
    assert_eq!(error(&nested(65)), "nested deeper than 64 levels");
    let by_alias = format!("a: &a {}{}\nb: [[*a]]", "[".repeat(62), "]".repeat(62));
    assert_eq!(error(&by_alias), "nested deeper than 64 levels");
}

#[test]
fn aliases_cannot_multiply_without_limit() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for number in 1..10 {
        let aliases = vec![format!("*a{}", number - 1); 10].join(", ");
        writeln!(text, "a{number}: &a{number} [{aliases}]").unwrap();
    }
    assert_eq!(error(&text), "too many values (limit 100000, counting copies made by aliases)");
    assert_eq!(error("a: &a [*a]"), "an alias cannot be inside its own anchor");
    let many = format!("v: [{}]", "1, ".repeat(100_000));
    assert_eq!(error(&many), "too many values (limit 100000, counting copies made by aliases)");
}

#[test]
fn includes_share_the_limit_of_values() {
    let half = format!("a: [{}]", "1, ".repeat(60_000));
    let files = Files::new(&[("onetool.yaml", "include: [a.yaml, a.yaml]"), ("a.yaml", &half)]);
    assert_eq!(
        files.error(),
        "error at a.yaml:1: too many values (limit 100000, counting copies made by aliases)"
    );
}

#[test]
fn yaml_that_is_ambiguous_or_unusual_is_refused() {
    assert_eq!(error("a: 1\nb: 2\na: 3"), "duplicate key 'a', first on line 1");
    assert_eq!(error("1: a"), "a key must be text, put it in quotes: \"1\"");
    assert_eq!(error("true: a"), "a key must be text, put it in quotes: \"true\"");
    assert_eq!(error("? [a]\n: b"), "a key must be text, not a list or a map");
    assert_eq!(error("a: !x b"), "tags are not supported; put a value that begins with '!' in quotes");
    assert_eq!(error("a: 1\n---\nb: 2"), "only one document per file is allowed");
    let unquoted = parse_text("a: [${TOKEN}]", "/onetool.yaml".as_ref(), &test_env).unwrap_err();
    assert_eq!(unquoted.hint().as_deref(), Some("inside [ ] and { }, put \"${NAME}\" in quotes"));
}

#[test]
fn r9_nasty_files_do_not_panic() {
    let sample = "version: 1\ninclude: [a.yaml]\nserver: &s {name: \"${TOKEN}\", list: [1, -2.5, ~]}\n\
                  text: |\n  {{ a }}\n  b\nmore: *s\n";
    let mut inputs: Vec<String> = [
        "\u{0}",
        "\u{feff}",
        "---\n---",
        "...",
        "%YAML 9.9\n---\na",
        "? ? ?",
        "? [a]\n: b",
        "*a",
        "&a *a",
        "<<: {}",
        "- - -",
        "[[[",
        "]",
        "{,}",
        "{a, b}",
        "a: |9\n x",
        "a: 'b",
        "\"\\uD800\"",
        "!!binary x",
        "!<tag:x> y",
        "\t",
        "server: {name: ${}}",
        "server: {name: \"${:-}\"}",
        "server: {name: \"$${\"}",
        "server: {name: \"${é}\"}",
        "server: {name: \"$${${A:-}}\"}",
        "include: [.]",
        "include: [~, {}]",
        "include: [onetool.yaml]",
        "version: -1",
        "version: 1e99",
        "version: 99999999999999999999",
    ]
    .map(str::to_owned)
    .into();
    for piece in ["- ", "[", "{", "? ", "a:\n ", "{a: ", "- a: ", "&a ", "! ", "\"", "${", "{{", "\r"] {
        inputs.push(piece.repeat(5_000));
        inputs.push(format!("server: {}", piece.repeat(200)));
    }
    let lines: Vec<&str> = sample.lines().collect();
    for index in 0..lines.len() {
        for nasty in ["~", "\u{0}", "]", "- ", "? ", "${", "{{", "\"", "!x", "*x", "<<: *x", "\u{2028}", "é"]
        {
            let mut lines = lines.clone();
            let line = format!("{}{nasty}", lines[index]);
            lines[index] = &line;
            inputs.push(lines.join("\n"));
            lines[index] = nasty;
            inputs.push(lines.join("\n"));
        }
    }
    inputs.extend(sample.char_indices().map(|(index, _)| sample[..index].to_owned()));
    inputs.extend(sample.char_indices().map(|(index, _)| sample[index..].to_owned()));
    let files = Files::new(&[("a.yaml", "b: 1")]);
    for input in inputs {
        fs::write(files.path("onetool.yaml"), input).unwrap();
        // Only panics matter here, so the results are ignored.
        let _ = files.read().and_then(|document: Document| document.root().read::<Value>());
        let _ = read_as_written(&files.path("onetool.yaml"), &test_env);
    }
    fs::write(files.path("onetool.yaml"), b"\xff\xfe").unwrap();
    files.read().unwrap_err();
}
