//! The JSON Schema of the configuration file. Doc comments on the fields become its descriptions.

use std::borrow::Cow;

use indexmap::IndexMap;
use onetool_core::{JsonObject, Policy};
use onetool_declared::{PromptFile, ResourceFile, ToolFile};
use onetool_packs::PacksConfig;
use onetool_run::RunOptions;
use onetool_run::shortcuts::SnippetOptions;
use onetool_store::results::OutputOptions;
use onetool_store::stats::StatsOptions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::source_files::{ApiFile, UpstreamFile};
use super::{
    DocsConfig, HttpConfig, NotifyConfig, ProtocolConfig, SearchConfig, ServerConfig, StartupWait,
    StorageConfig,
};

/// The top-level keys; a test compares them with [`ConfigFile`].
pub(super) const KEYS: [&str; 23] = [
    "version",
    "include",
    "server",
    "tools",
    "servers",
    "openapi",
    "startup_wait",
    "packs",
    "resources",
    "prompts",
    "docs",
    "aliases",
    "snippets",
    "notify",
    "run",
    "output",
    "stats",
    "search",
    "storage",
    "renames",
    "http",
    "protocol",
    "policy",
];

/// The configuration of onetool.
///
/// `${NAME}` and `${NAME:-default}` in values are replaced from `secrets.yaml` next to this file, then from the
/// environment; `$${` is a literal `${`. Paths are relative to the file that contains them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct ConfigFile {
    /// Version of this format. A version newer than onetool supports is an error. Default: 1.
    version: Option<u64>,
    /// Files to merge, from left to right; the including file wins. Maps are merged, other values replace each other,
    /// and the lists `tools`, `resources` and `prompts` are joined.
    include: Option<Vec<String>>,
    /// The name and instructions that clients see, and the time limit of a call.
    server: Option<ServerConfig>,
    /// Tools made from a request, a command or Python code.
    tools: Option<Vec<ToolFile>>,
    /// Other MCP servers, by name. Each becomes a pack.
    servers: Option<IndexMap<String, UpstreamFile>>,
    /// APIs with an OpenAPI description, by name. Each becomes a pack.
    openapi: Option<IndexMap<String, ApiFile>>,
    /// Seconds that the first request that needs servers or APIs waits for those that are still connecting; 0 does not
    /// wait. Default: 5.
    startup_wait: Option<StartupWait>,
    /// Python packs and built-in packs.
    packs: Option<PacksFile>,
    /// Resources made from text or a file.
    resources: Option<Vec<ResourceFile>>,
    /// Prompts made from templates.
    prompts: Option<Vec<PromptFile>>,
    /// Documentation for agents, in addition to the descriptions of the tools.
    docs: Option<DocsConfig>,
    /// Short names in code, each for a tool or another alias.
    aliases: Option<IndexMap<String, String>>,
    /// Named code with parameters, run by `$name key=value`.
    snippets: Option<IndexMap<String, SnippetOptions>>,
    /// Files that `ot.notify` writes to.
    notify: Option<NotifyConfig>,
    /// Limits of code in `run`.
    run: Option<RunOptions>,
    /// How large results are stored.
    output: Option<OutputOptions>,
    /// Statistics of calls.
    stats: Option<StatsOptions>,
    /// Search for tools.
    search: Option<SearchConfig>,
    /// Where results and statistics are stored.
    storage: Option<StorageConfig>,
    /// Old names of tools, each with the current name.
    renames: Option<IndexMap<String, String>>,
    /// The HTTP server.
    http: Option<HttpConfig>,
    /// The protocol between onetool and its clients.
    protocol: Option<ProtocolConfig>,
    /// Which tools may be called.
    policy: Option<Policy>,
}

/// The key `packs`: Python files, and a key for each built-in pack.
struct PacksFile;

impl JsonSchema for PacksFile {
    fn schema_name() -> Cow<'static, str> {
        "PacksFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let files = json_schema!({
            "description": "Python files, each a pack with its functions as tools; `*` matches any part of a name. \
                            Default: `[packs/*.py]`.",
            "type": ["array", "null"],
            "items": {"type": "string"},
        });
        let mut properties = JsonObject::new();
        properties.insert("files".to_owned(), files.to_value());
        properties.extend(PacksConfig::schemas(generator));
        json_schema!({
            "description": "Python packs and built-in packs.",
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

/// Returns the JSON Schema of the configuration file.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(ConfigFile);
    schema.insert("$id".into(), "https://onetool.beycom.online/onetool.schema.json".into());
    schema.insert("title".into(), "onetool configuration".into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_keys_are_those_of_the_schema() {
        let schema = json_schema();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), KEYS);
    }
}
