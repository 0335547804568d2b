//! Ways in for the fuzz targets in `fuzz/`. Not part of the library: it is there only when the compiler fuzzes.

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use crate::config::{self, SnippetConfig, SnippetParamConfig};
use crate::{Server, packs, run};
use onetool_run::shortcuts::{SnippetCall, Snippets};
use onetool_run::yaml;

pub fn command(command: &str) {
    let code = run::code_of(command);
    // The gateway itself parses only short commands; others are parsed in the cage.
    let _ = run::literal_call(&code);
}

pub fn snippet_call(command: &str) {
    if let Ok(call) = SnippetCall::parse(command) {
        let _ = snippets().expand(&call);
    }
}

/// Puts a value into a string of a snippet; returns what the string then is.
pub fn snippet_value(value: &str) -> Option<String> {
    let quoted = value.replace('\\', r"\\").replace('"', "\\\"");
    let command = format!("$text value=\"{quoted}\"");
    let code = snippets().expand(&SnippetCall::parse(&command).ok()?).ok()?;
    let call = run::literal_call(&code)?;
    Some(call.args.first()?.as_str()?.to_owned())
}

fn snippets() -> Snippets {
    let params =
        IndexMap::from([("value".to_owned(), SnippetParamConfig { required: true, ..Default::default() })]);
    let snippet = SnippetConfig {
        description: String::new(),
        params,
        body: "demo.echo(\"{{ value }}\")".to_owned(),
        at: config::Location { file: Path::new("fuzz.yaml").into(), line: 1 },
    };
    Snippets::new(&IndexMap::from([("text".to_owned(), snippet)]))
}

pub fn yaml(value: &Value) -> [String; 2] {
    [yaml::to_text(value), yaml::to_block(value)]
}

pub fn config(yaml: &str) {
    let _ = config::load_text(yaml);
}

/// Serves a client that sends these bytes and hangs up.
pub fn client_lines(lines: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let Ok(server) = Server::builder().discovery().logging().completions().build() else { return };
    let input = std::io::Cursor::new(lines.to_vec());
    runtime.block_on(async {
        let served = server.serve_streams(input, tokio::io::sink());
        tokio::time::timeout(Duration::from_secs(5), served)
            .await
            .expect("a session ends with its input")
            .ok();
    });
}

pub fn page(html: &[u8]) {
    let request = serde_json::json!({"url": "https://example.org/a/b", "content_type": "text/html",
        "format": "markdown", "max_length": 10_000, "selector": null});
    let mut message = request.to_string().into_bytes();
    message.push(b'\n');
    message.extend_from_slice(html);
    let answer = packs::read_page(message);
    serde_json::from_slice::<Value>(&answer).expect("a page gives an answer");
}
