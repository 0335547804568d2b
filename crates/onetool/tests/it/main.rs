//! Integration tests of the library: a real MCP client and a real server, in one process or over loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agent_reload;
mod bad_input;
mod cage;
mod custom;
mod declared;
mod discover;
mod find;
mod handlers;
mod hints;
mod http_access;
mod http_connections;
mod library;
mod logs;
mod names;
mod one_store;
#[cfg(feature = "packs")]
mod packs;
mod page;
mod page_rules;
mod python_packs;
mod reload;
mod run;
mod run_limits;
mod run_stops;
mod run_trust;
mod schemas;
mod session_limits;
mod sessions;
mod sources;
mod transit;
mod ways;

use std::path::Path;

use onetool::config::{self, Config};
use onetool::{ChildEnvironment, Gateway, GatewayOptions, JsonObject, Server};
use onetool_testkit::Client;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The argument of most tools here.
#[derive(Deserialize, JsonSchema)]
struct Text {
    /// The input.
    text: String,
}

fn server() -> Server {
    Server::builder().build().unwrap()
}

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

/// Writes a configuration to `folder` and loads it.
fn config(folder: &Path, yaml: &str) -> Config {
    let path = folder.join("onetool.yaml");
    std::fs::write(&path, yaml).unwrap();
    config::load(&path, &|_| None).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn gateway(folder: &Path, yaml: &str) -> Gateway {
    Gateway::new(config(folder, yaml), options()).unwrap()
}

/// A gateway that can run code, with the tools that `register` adds.
fn gateway_with_run(folder: &Path, yaml: &str, register: impl FnOnce(&Server)) -> Gateway {
    let worker = Some(onetool_testkit::worker());
    let mut options = options();
    options.worker = worker;
    options.directory = folder.into();
    // Aliases may refer to the tools that `register` adds, so those must exist before the aliases are loaded.
    let gateway = Gateway::new(without_aliases(config(folder, yaml)), options).unwrap();
    register(gateway.server());
    gateway.reload(config(folder, yaml)).unwrap();
    gateway
}

fn without_aliases(mut config: Config) -> Config {
    config.aliases.clear();
    config
}

/// The tools on every list of a gateway; `run` only if code can be run.
const SURFACE: [&str; 5] = ["run", "tool_find", "tool_describe", "tool_load", "tool_active"];

/// Returns the names on a client's list except those that every list has.
async fn beyond_surface(client: &Client) -> Vec<String> {
    client.tool_names().await.into_iter().filter(|name| !SURFACE.contains(&name.as_str())).collect()
}

/// The gateway options of these tests.
fn options() -> GatewayOptions {
    let children = ChildEnvironment::from([("PATH", "/usr/local/bin:/usr/bin:/bin")]);
    let mut options = GatewayOptions::default();
    options.children = children;
    options
}

#[test]
fn every_file_of_this_directory_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|it| it == "rs") && name != "main";
        assert!(!is_module || main.contains(&format!("mod {name};")), "add `mod {name};` to main.rs");
    }
}
