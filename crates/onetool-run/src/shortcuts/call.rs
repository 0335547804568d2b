//! Parsing of snippet calls: `$name k=v k2="v w"`, or `$name` followed by `key: value` lines.

use indexmap::IndexMap;
use onetool_core::abbreviate;
use serde_json::{Number, Value};

use super::error::SnippetError;
use super::snippet_type::SnippetType;

/// A parsed call of a snippet.
#[derive(Debug, Clone, PartialEq)]
pub struct SnippetCall {
    /// The name without the `$`.
    pub name: String,
    /// The arguments by parameter name, in order.
    pub arguments: IndexMap<String, SnippetArgument>,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum SnippetArgument {
    /// Text without quotes, which may be a number or a boolean.
    Bare(String),
    /// Quoted text, which is always a string.
    Quoted(String),
}

impl SnippetArgument {
    /// Converts the argument to a type. Returns `None` if it cannot be converted.
    pub(super) fn to_type(&self, kind: SnippetType) -> Option<Value> {
        let text = self.text();
        let trimmed = text.trim();
        let json = || serde_json::from_str::<Value>(trimmed).ok();
        let value = match kind {
            SnippetType::String => Some(text.into()),
            SnippetType::Boolean => infer(trimmed),
            // A list of strings can be written without JSON syntax.
            SnippetType::Array if !trimmed.starts_with('[') => {
                let items = trimmed.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty());
                Some(items.map(Value::from).collect())
            }
            SnippetType::Integer | SnippetType::Number | SnippetType::Array | SnippetType::Object => json(),
        };
        value.filter(|value| kind.accepts(value))
    }

    /// Returns the text, without quotes.
    pub(super) fn text(&self) -> &str {
        let (Self::Bare(text) | Self::Quoted(text)) = self;
        text
    }

    /// Returns the value of the argument for a parameter without a type; the type is that of the default, if any.
    pub(super) fn to_value(&self, default: Option<&Value>) -> Value {
        let text = match self {
            Self::Quoted(text) => return text.as_str().into(),
            Self::Bare(text) => text,
        };
        let value = match default {
            Some(Value::String(_)) => None,
            Some(Value::Number(_)) => serde_json::from_str::<Number>(text).ok().map(Value::Number),
            _ => infer(text),
        };
        value.unwrap_or_else(|| text.as_str().into())
    }
}

/// Infers the value of bare text from its form. A number that would be written differently (`1.10`, `007`) stays text:
/// a wrong type fails loudly, a changed text does not.
fn infer(text: &str) -> Option<Value> {
    match text {
        "true" | "True" => Some(true.into()),
        "false" | "False" => Some(false.into()),
        "null" | "None" => Some(Value::Null),
        _ if text.starts_with(['[', '{']) => serde_json::from_str(text).ok(),
        _ => serde_json::from_str::<Number>(text).ok().filter(|it| it.to_string() == text).map(Value::Number),
    }
}

impl SnippetCall {
    /// Parses a command that begins with `$`.
    pub fn parse(command: &str) -> Result<Self, SnippetError> {
        let rest = command.trim();
        let rest = rest.strip_prefix('$').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let mut arguments = Arguments::default();
        match arguments.parse_pairs(rest).and_then(|rest| arguments.parse_lines(rest)) {
            Ok(()) => Ok(Self { name: name.to_owned(), arguments: arguments.0 }),
            Err(reason) => Err(SnippetError::Call { name: abbreviate(name).into_owned(), reason }),
        }
    }
}

#[derive(Default)]
struct Arguments(IndexMap<String, SnippetArgument>);

impl Arguments {
    /// Parses `k=v` pairs up to the end of the line, and returns the rest. A quoted value may span lines.
    fn parse_pairs<'a>(&mut self, text: &'a str) -> Result<&'a str, String> {
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r']);
            if rest.is_empty() || rest.starts_with('\n') {
                return Ok(rest);
            }
            let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            let Some(after) = after.strip_prefix('=').filter(|_| !key.is_empty()) else {
                return Err(format!("expected key=value, got '{key}'"));
            };
            let (value, after) = parse_pair_value(key, after)?;
            self.insert(key, value)?;
            rest = after;
        }
    }

    /// Parses `key: value` lines. After `key: |`, the value is the indented lines that follow.
    fn parse_lines(&mut self, text: &str) -> Result<(), String> {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let Some((key, value)) = trimmed.split_once(':').filter(|(key, _)| is_name(key)) else {
                return Err(format!("expected key: value, got '{trimmed}'"));
            };
            let value = value.trim();
            if value == "|" {
                let indent = indent_of(line);
                let mut block = Vec::new();
                while let Some(line) =
                    lines.next_if(|line| line.trim().is_empty() || indent_of(line) > indent)
                {
                    block.push(line);
                }
                self.insert(key, SnippetArgument::Quoted(dedent(&block)))?;
                continue;
            }
            let value = match parse_quoted(value) {
                Some((text, rest)) if rest.trim().is_empty() => SnippetArgument::Quoted(text),
                _ => SnippetArgument::Bare(value.to_owned()),
            };
            self.insert(key, value)?;
        }
        Ok(())
    }

    fn insert(&mut self, key: &str, value: SnippetArgument) -> Result<(), String> {
        match self.0.insert(key.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(format!("duplicate parameter '{key}'")),
        }
    }
}

fn parse_pair_value<'a>(key: &str, text: &'a str) -> Result<(SnippetArgument, &'a str), String> {
    if text.starts_with(['"', '\'']) {
        let Some((value, rest)) = parse_quoted(text) else {
            return Err(format!("missing closing quote in the value of '{key}'"));
        };
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return Err(format!("missing space after the quoted value of '{key}'"));
        }
        return Ok((SnippetArgument::Quoted(value), rest));
    }
    // A list or an object may contain spaces.
    if text.starts_with(['[', '{']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        if let Some(Ok(_)) = values.next() {
            let (value, rest) = text.split_at(values.byte_offset());
            if rest.is_empty() || rest.starts_with(char::is_whitespace) {
                return Ok((SnippetArgument::Bare(value.to_owned()), rest));
            }
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    Ok((SnippetArgument::Bare(value.to_owned()), rest))
}

/// Parses quoted text, and returns the rest. A backslash escapes a quote or a backslash, and is literal elsewhere.
fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((index, c)) = chars.next() {
        match c {
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\'' | '\\')) {
                Some((_, next)) => value.push(next),
                None => value.push('\\'),
            },
            c if c == quote => return Some((value, &text[index + 1..])),
            c => value.push(c),
        }
    }
    None
}

fn is_name(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Removes the indentation that all lines share, and trailing blank lines.
fn dedent(lines: &[&str]) -> String {
    let indent = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent_of(line)).min();
    let lines = lines.iter().map(|line| line.get(indent.unwrap_or(0)..).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values(command: &str) -> Value {
        let call = SnippetCall::parse(command).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(call.name, "s");
        call.arguments
            .iter()
            .map(|(key, argument)| (key.clone(), argument.to_value(None)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    fn error(command: &str) -> String {
        SnippetCall::parse(command).unwrap_err().to_string()
    }

    #[test]
    fn run_4_1_pairs_are_parsed_with_and_without_quotes() {
        assert_eq!(values("$s"), json!({}));
        assert_eq!(
            values(r#"$s k=v k2="v w" k3='it is' n=5 f=-0.5 t=true none=None v=1.10 z=007"#),
            json!({"k": "v", "k2": "v w", "k3": "it is", "n": 5, "f": -0.5, "t": true, "none": null, "v": "1.10", "z": "007"})
        );
        assert_eq!(
            values(
                "$s a=\"say \\\"hi\\\" C:\\new \\\\\" b=it's c=a=b d=[1, \"x y\"] e={\"k\": [2]} f=\"two\nlines\" g=[a i=[1]x h="
            ),
            json!({"a": "say \"hi\" C:\\new \\", "b": "it's", "c": "a=b", "d": [1, "x y"], "e": {"k": [2]}, "f": "two\nlines", "g": "[a", "i": "[1]x", "h": ""})
        );
        assert_eq!(values("  $s n=\"5\" t='true'  "), json!({"n": "5", "t": "true"}));
    }

    #[test]
    fn run_4_1_lines_are_parsed_with_and_without_quotes() {
        let command = "$s\n  topic: Rust: a language\n  # a note\n\n  count: 5\n  text: \"a \\\" b\"\n  half: \"a\" and \"b\"\n  code: |\n    one\n      two\n\n    three\n  url: https://x/?a=b";
        assert_eq!(
            values(command),
            json!({"topic": "Rust: a language", "count": 5, "text": "a \" b", "half": "\"a\" and \"b\"",
                "code": "one\n  two\n\nthree", "url": "https://x/?a=b"})
        );
        assert_eq!(values("$s a=1\nb: 2"), json!({"a": 1, "b": 2}));
    }

    #[test]
    fn run_4_1_the_default_determines_the_type() {
        let bare = |text: &str, default: Value| SnippetArgument::Bare(text.into()).to_value(Some(&default));
        assert_eq!(bare("1.10", json!(0.5)), json!(1.1));
        assert_eq!(bare("5", json!("x")), json!("5"));
        assert_eq!(bare("many", json!(5)), json!("many"));
        assert_eq!(bare("false", json!(true)), json!(false));
    }

    #[test]
    fn run_4_2_an_invalid_call_is_an_error_that_says_where() {
        let invalid = |reason: &str| format!("invalid call of snippet '$s': {reason}");
        assert_eq!(error("$s Python"), invalid("expected key=value, got 'Python'"));
        assert_eq!(error("$s a=\"x"), invalid("missing closing quote in the value of 'a'"));
        assert_eq!(error("$s a=\"x\"y"), invalid("missing space after the quoted value of 'a'"));
        assert_eq!(error("$s a=1 a=2"), invalid("duplicate parameter 'a'"));
        assert_eq!(error("$s\njust text"), invalid("expected key: value, got 'just text'"));
    }

    proptest! {
        #[test]
        fn r9_no_call_makes_the_parser_panic(command in "\\$[a-z]{0,3}[ \n]?(\\PC|\n|[=:\"'|\\[{\\\\ ]){0,40}") {
            let _ = SnippetCall::parse(&command);
        }

        #[test]
        fn r9_quoted_text_is_parsed_back(text in "(\\PC|\n|[\"'\\\\]){0,20}") {
            let written = text.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(values(&format!("$s a=\"{written}\" b=1")), json!({"a": text, "b": 1}));
        }
    }
}
