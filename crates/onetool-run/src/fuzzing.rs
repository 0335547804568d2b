//! Entry points for the fuzz targets in `fuzz/`. They exist only under `cfg(fuzzing)` and are not part of the library.

use indexmap::IndexMap;
use onetool_config::NonEmpty;
use serde_json::Value;

use crate::run::{extract_code, parse_literal_call};
use crate::shortcuts::{SnippetCall, SnippetOptions, SnippetParameter, Snippets};
use crate::yaml;

/// Parses a command of the `run` tool.
pub fn command(command: &str) {
    let code = extract_code(command);
    // The gateway parses only short commands; longer ones are parsed in the cage.
    let _ = parse_literal_call(&code);
}

/// Parses and expands a call of a snippet.
pub fn snippet_call(command: &str) {
    if let Ok(call) = SnippetCall::parse(command) {
        let _ = snippets().expand(&call);
    }
}

/// Fills a value into a string literal of a snippet, and returns the value of that literal.
pub fn snippet_value(value: &str) -> Option<String> {
    let quoted = value.replace('\\', r"\\").replace('"', "\\\"");
    let command = format!("$text value=\"{quoted}\"");
    let code = snippets().expand(&SnippetCall::parse(&command).ok()?).ok()?;
    let call = parse_literal_call(&code)?;
    Some(call.args.first()?.as_str()?.to_owned())
}

/// Returns a value as YAML in flow style and in block style.
pub fn yaml(value: &Value) -> [String; 2] {
    [yaml::to_text(value), yaml::to_block(value)]
}

fn snippets() -> Snippets {
    let snippet = SnippetOptions {
        description: String::new(),
        params: [("value".to_owned(), SnippetParameter::default())].into(),
        body: NonEmpty::new("demo.echo(\"{{ value }}\")"),
    };
    Snippets::new(&IndexMap::from([("text".to_owned(), snippet)]))
}
