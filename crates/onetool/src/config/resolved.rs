//! The configuration as meant: checked, complete, with absolute paths.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use onetool_cage::SlotLimits;
use onetool_core::{JsonObject, PromptArgument, Role, ToolAnnotations};
use onetool_openapi::{ApiOptions, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LoadedFile, Location, PacksConfig, Redactor, SearchConfig, Secret, SnippetType};
use crate::catalog::{Policy, ToolDocs};
use crate::http::ConnectionLimits;

/// The whole configuration; [`Default`] is what holds without a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The main file, if there is one.
    pub path: Option<PathBuf>,
    /// Every file that it was read from: the main one, its includes and the secrets.
    pub files: Vec<LoadedFile>,
    /// What the server says about itself, and the limits of a call.
    pub server: ServerConfig,
    /// Tools made from a request, a command or Python code.
    pub tools: Vec<ToolConfig>,
    /// Other MCP servers, by the names of their packs.
    pub servers: IndexMap<String, UpstreamConfig>,
    /// APIs with an OpenAPI description, by the names of their packs.
    pub apis: IndexMap<String, ApiConfig>,
    /// How long the first request that needs them waits for servers and APIs that are still connecting.
    pub startup_wait: StartupWait,
    /// Files that are packs of tools.
    pub pack_files: Vec<PackFilesConfig>,
    /// Packs that come with onetool.
    pub packs: PacksConfig,
    /// Resources made from a text or a file.
    pub resources: Vec<ResourceConfig>,
    /// Prompts made from templates.
    pub prompts: Vec<PromptConfig>,
    /// What agents are told beyond what the tools themselves say.
    pub docs: DocsConfig,
    /// Short names in code, each with what it stands for.
    pub aliases: IndexMap<String, AliasConfig>,
    /// Code under a name.
    pub snippets: IndexMap<String, SnippetConfig>,
    /// Where `ot.notify` writes: the first topic that matches is taken.
    pub notify: Vec<TopicConfig>,
    /// What one run of code may use.
    pub run: RunConfig,
    /// What happens to large results.
    pub output: OutputConfig,
    /// Statistics of calls.
    pub stats: StatsConfig,
    /// How tools are found.
    pub search: SearchConfig,
    /// The file in which everything is kept that lasts, if one is named.
    pub storage: Option<PathBuf>,
    /// Old names of tools, each with the name that it has now.
    pub renames: IndexMap<String, String>,
    /// The HTTP server.
    pub http: HttpConfig,
    /// The newest protocol revision to speak.
    pub protocol_max: ProtocolRevision,
    /// Which tools may be called.
    pub policy: Policy,
    /// Takes the values of variables out of texts.
    pub redactor: Redactor,
    /// What is not wrong, but should not stay so.
    pub warnings: Vec<String>,
    /// What is missing from it and who can add it; clients get it with the server's instructions.
    pub notice: Option<String>,
}

/// How long the first request that needs them waits for servers and APIs that are still connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartupWait(pub Duration);

impl Default for StartupWait {
    fn default() -> Self {
        Self(Duration::from_secs(5))
    }
}

/// Another MCP server. Its debug output shows no values of variables, headers and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamConfig {
    /// How to reach it, and how much patience to have with it.
    pub connection: onetool_proxy::UpstreamConfig,
    /// Whether its answers are marked as foreign.
    pub is_untrusted: bool,
}

/// An API with an OpenAPI description.
#[derive(Clone, PartialEq)]
pub struct ApiConfig {
    /// Where the description is.
    pub origin: Origin,
    /// What becomes of it.
    pub options: ApiOptions,
    /// Whether it is used.
    pub is_enabled: bool,
    /// Whether its answers are marked as foreign.
    pub is_untrusted: bool,
}

/// A URL may hold a secret, so only the name is shown.
impl fmt::Debug for ApiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiConfig").field("name", &self.options.name).finish_non_exhaustive()
    }
}

/// What the server says about itself, and the limits of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// The name that clients see.
    pub name: String,
    /// What clients tell their model about this server.
    pub instructions: Option<String>,
    /// When a call is given up.
    pub call_timeout: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { name: "onetool".into(), instructions: None, call_timeout: Duration::from_mins(5) }
    }
}

/// Python files that are packs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackFilesConfig {
    /// Their path; `*` stands for any part of a name.
    pub pattern: PathBuf,
    /// Where it is written, or would be.
    pub at: Location,
}

/// A tool made from a request, a command or Python code.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfig {
    /// Its canonical name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, in words for a model.
    pub description: String,
    /// The JSON Schema of its parameters, in the order written.
    pub input_schema: JsonObject,
    /// Hints about its effects.
    pub annotations: Option<ToolAnnotations>,
    /// When a call is given up, if not when the server says.
    pub timeout: Option<Duration>,
    /// What a call does.
    pub body: ToolBody,
    /// Where it is defined.
    pub at: Location,
}

/// What a call of a configured tool does.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolBody {
    /// Makes an HTTP request.
    Http(HttpToolConfig),
    /// Runs a program.
    Command(CommandToolConfig),
    /// Runs Python code in the sandbox.
    Python(String),
}

/// An HTTP request with templates in it.
#[derive(Clone, PartialEq)]
pub struct HttpToolConfig {
    /// The method, in upper case.
    pub method: String,
    /// The address, a template behind its authority.
    pub url: String,
    /// Query parameters; the values are templates.
    pub query: IndexMap<String, String>,
    /// Headers; the values are templates.
    pub headers: IndexMap<String, Secret>,
    /// A JSON body; the strings inside are templates.
    pub json: Option<Value>,
    /// A text body, a template.
    pub body: Option<String>,
}

/// Any text of a request may hold a secret, so none is shown.
impl fmt::Debug for HttpToolConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpToolConfig").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A program to run, with templates in its arguments.
#[derive(Clone, PartialEq)]
pub struct CommandToolConfig {
    /// The program, then its arguments, which are templates.
    pub argv: Vec<String>,
    /// Environment variables.
    pub env: IndexMap<String, Secret>,
    /// The directory to run in.
    pub cwd: PathBuf,
    /// What the program reads, a template.
    pub stdin: Option<String>,
}

/// Any argument may hold a secret, so only the program is shown.
impl fmt::Debug for CommandToolConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandToolConfig").field("program", &self.argv.first()).finish_non_exhaustive()
    }
}

/// A resource made from a text or a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceConfig {
    /// Its URI.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// What it holds, in words.
    pub description: Option<String>,
    /// The MIME type of its contents.
    pub mime_type: Option<String>,
    /// Where the contents come from.
    pub body: ResourceBody,
    /// Where it is defined.
    pub at: Location,
}

/// Where the contents of a configured resource come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// The contents themselves.
    Text(String),
    /// A file, read anew each time.
    File {
        /// The file.
        path: PathBuf,
        /// Whether it is bytes rather than text.
        blob: bool,
    },
}

/// A prompt made from templates.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptConfig {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
    /// Its messages.
    pub messages: Vec<PromptMessageConfig>,
    /// Where it is defined.
    pub at: Location,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessageConfig {
    /// Who speaks.
    pub role: Role,
    /// What is said, a template.
    pub text: String,
}

/// What agents are told beyond what the tools themselves say.
#[derive(Debug, Clone, PartialEq)]
pub struct DocsConfig {
    /// Where the documentation is.
    pub base_url: String,
    /// Instructions for whole packs.
    pub packs: IndexMap<String, String>,
    /// Words about single tools, by canonical name.
    pub tools: IndexMap<String, ToolDocs>,
}

impl Default for DocsConfig {
    fn default() -> Self {
        let base_url = "https://onetool.beycom.online".into();
        Self { base_url, packs: IndexMap::new(), tools: IndexMap::new() }
    }
}

/// The HTTP server.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConfig {
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The access token.
    pub token: TokenConfig,
    /// Whether the page and the API may call tools.
    pub allow_execute: bool,
    /// The title of the page.
    pub title: String,
    /// Whether the page remembers the last calls until the program ends.
    pub history: bool,
    /// Host names, beyond the address itself, under which requests may come in.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages elsewhere that may send requests.
    pub allowed_origins: Vec<String>,
    /// The largest request in bytes.
    pub max_body: usize,
    /// How many connections are held open, and how long each may keep the server waiting.
    pub connections: ConnectionLimits,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7411)),
            token: TokenConfig::Auto,
            allow_execute: false,
            title: "onetool".into(),
            history: true,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body: 4 * 1024 * 1024,
            connections: ConnectionLimits::default(),
        }
    }
}

/// The access token of the HTTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenConfig {
    /// Made by onetool.
    Auto,
    /// None is asked for.
    None,
    /// This one.
    Value(Secret),
}

/// A revision of the Model Context Protocol, from oldest to newest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[expect(missing_docs, reason = "a revision is its date")]
pub enum ProtocolRevision {
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    #[default]
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl ProtocolRevision {
    /// Every revision, from oldest to newest.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// Returns the date that names it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

impl fmt::Display for ProtocolRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A short name in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasConfig {
    /// The tool or the other alias that it stands for.
    pub target: String,
    /// Where it is defined.
    pub at: Location,
}

/// Code under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct SnippetConfig {
    /// What it does.
    pub description: String,
    /// What it takes, in order.
    pub params: IndexMap<String, SnippetParamConfig>,
    /// Python code with `{{ parameter }}` in it.
    pub body: String,
    /// Where it is defined.
    pub at: Location,
}

/// A parameter of a snippet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SnippetParamConfig {
    /// What kind of value it takes; any if not said.
    pub kind: Option<SnippetType>,
    /// What stands for it when it is not given.
    pub default: Option<Value>,
    /// What it means.
    pub description: Option<String>,
    /// A value to show in examples.
    pub example: Option<Value>,
    /// Whether it has to be given.
    pub required: bool,
}

/// A kind of message and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicConfig {
    /// The topics: `*` stands for anything but `:`, `**` for anything.
    pub pattern: String,
    /// The YAML file to append to.
    pub file: PathBuf,
}

/// What one run of code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunConfig {
    /// Wall-clock time, tools included.
    pub timeout: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Calls of tools.
    pub max_calls: u32,
    /// Calls at the same time.
    pub max_parallel: u32,
    /// Bytes of printed text.
    pub max_print: usize,
    /// Bytes of the result.
    pub max_result: usize,
    /// Bytes that the gateway holds for a run: arguments and answers of its calls.
    pub max_buffer: usize,
    /// Programs that run at the same time.
    pub max_concurrent: usize,
    /// Bytes of memory that all programs together may use; by default, what the machine has.
    pub max_total_memory: Option<u64>,
    /// Programs that wait until another one ends; further ones are refused.
    pub max_waiting: usize,
    /// Whether code is refused where the kernel lacks a layer of the cage.
    pub require_cage: bool,
}

impl RunConfig {
    /// Returns how many processes may exist at once.
    pub(crate) fn slots(&self) -> SlotLimits {
        let memory = self.max_total_memory.unwrap_or_else(onetool_cage::total_memory);
        SlotLimits { running: self.max_concurrent, memory, waiting: self.max_waiting }
    }
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(2),
            memory: 256 * 1024 * 1024,
            max_calls: 1000,
            max_parallel: 16,
            max_print: 1_000_000,
            max_result: 50_000_000,
            max_buffer: 100_000_000,
            max_concurrent: 32,
            max_total_memory: None,
            max_waiting: 64,
            require_cage: false,
        }
    }
}

/// What happens to large results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputConfig {
    /// Bytes that are given back as they are; more is stored.
    pub max_inline_size: usize,
    /// How long a stored result is kept.
    pub result_ttl: Duration,
    /// Lines of a stored result that are shown at once.
    pub preview_lines: usize,
    /// Bytes that all stored results may take together; the oldest make room for new ones.
    pub max_store: u64,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            max_inline_size: 50_000,
            result_ttl: Duration::from_hours(1),
            preview_lines: 10,
            max_store: 256 * 1024 * 1024,
        }
    }
}

/// Statistics of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatsConfig {
    /// Whether they are kept.
    pub enabled: bool,
    /// What one turn of a model takes.
    pub turn: Duration,
}

impl Default for StatsConfig {
    fn default() -> Self {
        Self { enabled: true, turn: Duration::from_secs(4) }
    }
}
