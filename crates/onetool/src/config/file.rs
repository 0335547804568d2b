//! The configuration file as written; the comments on its fields are the texts of its JSON Schema.

use std::fmt;

use indexmap::IndexMap;
use onetool_core::{JsonObject, Role, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::packs_file::PacksFile;
use super::resolved::ProtocolRevision;
use super::search::SearchFile;
use super::snippet_type::SnippetType;
use super::source_file::{ApiFile, UpstreamFile};

/// The configuration of onetool.
///
/// `${NAME}` and `${NAME:-default}` inside values are replaced from `secrets.yaml` beside this file, then from the
/// environment; `$${` is a literal `${`. Paths are relative to the file that holds them.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct ConfigFile {
    /// The version of this format; 1 if missing.
    pub(super) version: Option<u64>,
    /// Files to merge, from left to right; this file wins. Maps merge, other values replace each other, and the
    /// lists `tools`, `resources` and `prompts` are joined.
    // Read from the tree, before there is a typed file; here for the schema.
    pub(super) include: Option<Vec<String>>,
    /// What onetool says about itself, and the limits of a call.
    pub(super) server: Option<ServerFile>,
    /// Tools made from a request, a command or Python code.
    pub(super) tools: Option<Vec<ToolFile>>,
    /// Other MCP servers; each becomes a pack of its name.
    pub(super) servers: Option<IndexMap<String, UpstreamFile>>,
    /// APIs with an OpenAPI description; each becomes a pack of its name.
    pub(super) openapi: Option<IndexMap<String, ApiFile>>,
    /// How many seconds the first request that needs them waits for servers and APIs that are still connecting; 5 if
    /// missing, 0 not to wait.
    #[schemars(range(min = 0, max = 86400))]
    pub(super) startup_wait: Option<f64>,
    /// Packs of tools.
    pub(super) packs: Option<PacksFile>,
    /// Resources made from a text or a file.
    pub(super) resources: Option<Vec<ResourceFile>>,
    /// Prompts made from templates.
    pub(super) prompts: Option<Vec<PromptFile>>,
    /// What agents are told beyond what the tools themselves say.
    pub(super) docs: Option<DocsFile>,
    /// Short names in code, each with the tool or the other alias that it stands for.
    pub(super) aliases: Option<IndexMap<String, String>>,
    /// Code under a name, filled in and run by `$name key=value`.
    pub(super) snippets: Option<IndexMap<String, SnippetFile>>,
    /// Where `ot.notify` writes.
    pub(super) notify: Option<NotifyFile>,
    /// What one run of code may use.
    pub(super) run: Option<RunFile>,
    /// What happens to large results.
    pub(super) output: Option<OutputFile>,
    /// Statistics of calls.
    pub(super) stats: Option<StatsFile>,
    /// How tools are found.
    pub(super) search: Option<SearchFile>,
    /// Where everything is kept that lasts.
    pub(super) storage: Option<StorageFile>,
    /// Old names of tools, each with the name that it has now.
    pub(super) renames: Option<IndexMap<String, String>>,
    /// The HTTP server.
    pub(super) http: Option<HttpFile>,
    /// The protocol spoken with clients.
    pub(super) protocol: Option<ProtocolFile>,
    /// Which tools may be called.
    pub(super) policy: Option<PolicyFile>,
}

/// What onetool says about itself, and the limits of a call.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct ServerFile {
    /// The name that clients see; `onetool` if missing.
    pub(super) name: Option<String>,
    /// What clients tell their model about this server.
    pub(super) instructions: Option<String>,
    /// After how many seconds a call is given up; 300 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) call_timeout: Option<f64>,
}

/// A tool: exactly one of `http`, `command` and `python`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct ToolFile {
    /// Its name, `pack.tool`.
    pub(super) name: String,
    /// A name for people.
    pub(super) title: Option<String>,
    /// What it does, in words for a model.
    pub(super) description: String,
    /// Its parameters: a JSON Schema for each. A parameter is required unless it has a `default` or
    /// `required: false`.
    pub(super) params: Option<IndexMap<String, JsonObject>>,
    /// The JSON Schema of all parameters, instead of `params`.
    pub(super) input_schema: Option<JsonObject>,
    /// Hints about its effects.
    pub(super) annotations: Option<ToolAnnotations>,
    /// After how many seconds a call is given up; that of the server if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// The request to make.
    pub(super) http: Option<HttpToolFile>,
    /// The program to run and its arguments, as a list. Arguments may hold `{{ parameter }}`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) command: Option<Argv>,
    /// Where the command runs; the directory of this file if missing.
    pub(super) cwd: Option<String>,
    /// Environment variables for the command.
    pub(super) env: Option<IndexMap<String, String>>,
    /// What the command reads; may hold `{{ parameter }}`.
    pub(super) stdin: Option<String>,
    /// Python code that is run in the sandbox. Parameters are names in it, other tools can be called, and its last
    /// expression or `return` is the answer.
    pub(super) python: Option<String>,
}

/// An HTTP request; its texts may hold `{{ parameter }}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct HttpToolFile {
    /// The method; GET if missing.
    pub(super) method: Option<String>,
    /// The address; parameters may stand in the path and behind it.
    pub(super) url: String,
    /// Query parameters to add to the address.
    pub(super) query: Option<IndexMap<String, String>>,
    /// Headers to send.
    pub(super) headers: Option<IndexMap<String, String>>,
    /// A JSON body to send; the texts in it may hold `{{ parameter }}`.
    pub(super) json: Option<Value>,
    /// A text body to send, instead of `json`.
    pub(super) body: Option<String>,
}

/// A resource: exactly one of `text` and `file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct ResourceFile {
    /// Its URI.
    pub(super) uri: String,
    /// A short name.
    pub(super) name: String,
    /// What it holds, in words.
    pub(super) description: Option<String>,
    /// The MIME type of its contents.
    pub(super) mime_type: Option<String>,
    /// The contents themselves.
    pub(super) text: Option<String>,
    /// A file with the contents, read anew each time.
    pub(super) file: Option<String>,
    /// Whether the file is bytes rather than text; guessed from the MIME type if missing.
    pub(super) blob: Option<bool>,
}

/// A prompt: exactly one of `template` and `messages`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct PromptFile {
    /// Its name.
    pub(super) name: String,
    /// A name for people.
    pub(super) title: Option<String>,
    /// What it is for.
    pub(super) description: Option<String>,
    /// What it takes.
    pub(super) arguments: Option<Vec<PromptArgumentFile>>,
    /// The one message of the user; may hold `{{ argument }}`.
    pub(super) template: Option<String>,
    /// The messages, instead of `template`.
    pub(super) messages: Option<Vec<PromptMessageFile>>,
}

/// An argument of a prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct PromptArgumentFile {
    /// Its name.
    pub(super) name: String,
    /// What it means.
    pub(super) description: Option<String>,
    /// Whether it has to be given; false if missing.
    pub(super) required: Option<bool>,
}

/// A message of a prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct PromptMessageFile {
    /// Who speaks.
    pub(super) role: Role,
    /// What is said; may hold `{{ argument }}`.
    pub(super) text: String,
}

/// What agents are told beyond what the tools themselves say.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct DocsFile {
    /// Where the documentation is; links to pages of packs begin with it.
    pub(super) base_url: Option<String>,
    /// Instructions for whole packs.
    pub(super) packs: Option<IndexMap<String, String>>,
    /// Words about single tools, by canonical name.
    pub(super) tools: Option<IndexMap<String, ToolDocsFile>>,
}

/// Words about a tool.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct ToolDocsFile {
    /// A description instead of the tool's own.
    pub(super) description: Option<String>,
    /// Calls to show.
    pub(super) examples: Option<Vec<String>>,
    /// Words under which the tool is found, too.
    pub(super) keywords: Option<Vec<String>>,
    /// The kind of tool, for filters.
    pub(super) category: Option<String>,
}

/// The HTTP server.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct HttpFile {
    /// The address and port to listen on; 127.0.0.1:7411 if missing.
    pub(super) listen: Option<String>,
    /// The access token: `auto` makes one, `none` asks for none, anything else is the token.
    pub(super) token: Option<String>,
    /// Whether the page and the API may call tools; false if missing.
    pub(super) allow_execute: Option<bool>,
    /// The title of the page; `onetool` if missing.
    pub(super) title: Option<String>,
    /// Whether the page remembers the last calls, with arguments and results, until the program ends; true if missing.
    pub(super) history: Option<bool>,
    /// Host names, beyond the address itself, under which requests may come in.
    pub(super) allowed_hosts: Option<Vec<String>>,
    /// Origins of pages elsewhere that may send requests.
    pub(super) allowed_origins: Option<Vec<String>>,
    /// The largest request in bytes; 4194304 if missing.
    #[schemars(range(min = 1))]
    pub(super) max_body: Option<usize>,
    /// The number of connections that may be open at the same time; 512 by default.
    #[schemars(range(min = 1))]
    pub(super) max_connections: Option<usize>,
    /// The number of connections that one address may have open at the same time; 256 by default. An IPv6 address stands
    /// for its /64 network.
    #[schemars(range(min = 1))]
    pub(super) max_connections_per_address: Option<usize>,
    /// Seconds that the headers of a request may take to arrive; 10 by default.
    #[schemars(range(min = 0))]
    pub(super) header_timeout: Option<f64>,
    /// Seconds that the body of a request may take to arrive; 60 by default.
    #[schemars(range(min = 0))]
    pub(super) body_timeout: Option<f64>,
    /// Seconds that a connection may stay open between two requests; 75 by default.
    #[schemars(range(min = 0))]
    pub(super) idle_timeout: Option<f64>,
    /// Seconds that a client may go without reading the response that waits for it; 60 by default.
    #[schemars(range(min = 0))]
    pub(super) write_timeout: Option<f64>,
}

/// The protocol spoken with clients.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct ProtocolFile {
    /// The newest revision to speak; the newest known if missing.
    pub(super) max: Option<ProtocolRevision>,
}

/// Which tools may be called, by globs over canonical names.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct PolicyFile {
    /// Tools that may be called; `["*"]`, all, if missing.
    pub(super) allow: Option<Vec<String>>,
    /// Tools that may not, even if `allow` names them.
    pub(super) deny: Option<Vec<String>>,
}

/// Code under a name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct SnippetFile {
    /// What it does.
    #[serde(default)]
    pub(super) description: String,
    /// What it takes, in order.
    #[serde(default)]
    pub(super) params: IndexMap<String, SnippetParamFile>,
    /// Python code with `{{ parameter }}` in it.
    pub(super) body: String,
}

/// A parameter of a snippet; one without a default is required.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct SnippetParamFile {
    /// What kind of value it takes; a value of another kind is an error.
    #[serde(rename = "type")]
    pub(super) kind: Option<SnippetType>,
    /// What stands for it when it is not given.
    pub(super) default: Option<Value>,
    /// What it means.
    pub(super) description: Option<String>,
    /// A value to show in examples.
    pub(super) example: Option<Value>,
    /// Whether it has to be given; true unless it has a default.
    pub(super) required: Option<bool>,
}

/// Where `ot.notify` writes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct NotifyFile {
    /// Topics and their files; the first pattern that matches is taken.
    pub(super) topics: Option<Vec<TopicFile>>,
}

/// A kind of message and its file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct TopicFile {
    /// The topics: `*` stands for anything but `:`, `**` for anything.
    pub(super) pattern: String,
    /// The YAML file to append to.
    pub(super) file: String,
}

/// What one run of code may use.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct RunFile {
    /// Seconds, tools included; 120 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Megabytes of memory; 256 if missing.
    #[schemars(range(min = 16))]
    pub(super) memory_mb: Option<u64>,
    /// Calls of tools; 1000 if missing.
    pub(super) max_calls: Option<u32>,
    /// Calls at the same time; 16 if missing.
    #[schemars(range(min = 1))]
    pub(super) max_parallel: Option<u32>,
    /// Bytes of printed text; 1000000 if missing.
    pub(super) max_print: Option<usize>,
    /// Bytes of the result; 50000000 if missing.
    pub(super) max_result: Option<usize>,
    /// Bytes that the gateway holds for a run: arguments of its calls, and answers that the code has not taken yet.
    /// Default: 100000000.
    pub(super) max_buffer: Option<usize>,
    /// Programs that run at the same time. Default: 32.
    #[schemars(range(min = 1))]
    pub(super) max_concurrent: Option<usize>,
    /// Megabytes of memory that all programs together may use. Default: what the machine, or its container, has.
    #[schemars(range(min = 16))]
    pub(super) max_total_memory_mb: Option<u64>,
    /// Programs that wait until another one ends; further ones are refused. Default: 64.
    pub(super) max_waiting: Option<usize>,
    /// Whether to refuse to run code on a kernel that lacks a layer of the cage (Landlock, seccomp). Layers that the
    /// kernel has are always required; `onetool check` names those that it lacks. Default: false.
    pub(super) require_cage: Option<bool>,
}

/// What happens to large results.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct OutputFile {
    /// Bytes that are given back as they are; more is stored; 50000 if missing.
    pub(super) max_inline_size: Option<usize>,
    /// Seconds that a stored result is kept; 3600 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) result_ttl: Option<f64>,
    /// Lines of a stored result that are shown at once; 10 if missing.
    pub(super) preview_lines: Option<usize>,
    /// Bytes that all stored results may take together, oldest first out; 268435456 if missing.
    pub(super) max_store: Option<u64>,
}

/// Statistics of calls.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct StatsFile {
    /// Whether they are kept; true if missing.
    pub(super) enabled: Option<bool>,
    /// Milliseconds that one turn of a model takes; 4000 if missing.
    pub(super) turn_ms: Option<u64>,
}

/// Where everything is kept that lasts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct StorageFile {
    /// `sqlite:` and a file, relative to this one; `onetool.db` in the folder `.onetool` if missing.
    pub(super) url: Option<String>,
}

/// A command line as a list; a string would need a shell, and shells are how commands get injected.
pub(super) struct Argv(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Argv;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, for example [git, log]")
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Argv, E> {
                Err(E::custom("give the command as a list, for example [git, log]"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Argv, A::Error> {
                let mut argv = Vec::new();
                while let Some(argument) = items.next_element()? {
                    argv.push(argument);
                }
                Ok(Argv(argv))
            }
        }
        deserializer.deserialize_any(List)
    }
}
