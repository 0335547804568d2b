//! The library at its boundary: a real MCP client, a real server, in one process or over loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod custom_prompts;
mod custom_resources;
mod custom_tools;
mod declared;
mod discover;
mod http_access;
mod logs;
mod names;
mod reload;
mod sessions;

use std::path::Path;

use onetool::config::{self, Config};
use onetool::{ChildEnvironment, Gateway, JsonObject, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The argument of most tools here.
#[derive(Deserialize, JsonSchema)]
struct Text {
    /// What to work on.
    text: String,
}

fn server() -> Server {
    Server::builder().build().unwrap()
}

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

/// Loads a configuration from its text, out of a folder of its own.
fn config(folder: &Path, yaml: &str) -> Config {
    let path = folder.join("onetool.yaml");
    std::fs::write(&path, yaml).unwrap();
    config::load(&path, &|_| None).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn gateway(folder: &Path, yaml: &str) -> Gateway {
    Gateway::new(config(folder, yaml), children()).unwrap()
}

/// What child processes inherit in these tests.
fn children() -> ChildEnvironment {
    vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]
}

#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|it| it == "rs") && name != "main";
        assert!(!is_module || main.contains(&format!("mod {name};")), "add `mod {name};` to main.rs");
    }
}
