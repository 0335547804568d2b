//! The configuration: one YAML file, the files it includes, and the secrets next to it.
//!
//! [`onetool_config`] reads the format. This module combines the sections: those declared here, and those that the
//! components declare themselves.

mod docs;
mod http;
mod notify;
mod outline;
mod protocol;
mod schema;
mod search;
mod server;
mod source_files;
mod sources;
mod storage;

use std::path::{Path, PathBuf, absolute};

use indexmap::IndexMap;
use onetool_config::{Document, Section};
use onetool_core::{Policy, Redactor, ToolName};

pub use docs::DocsConfig;
pub use http::{HttpConfig, TokenConfig};
pub use notify::{NotifyConfig, TopicConfig};
pub use onetool_config::{
    AtLeast, ConfigError, FileDigest, FilePath, LoadedFile, Location, NonEmpty, PendingChanges, Seconds,
};
pub use onetool_declared::{
    CommandOptions, DeclaredOptions, PromptOptions, RequestOptions, ResourceBody, ResourceOptions, ToolBody,
    ToolOptions,
};
pub use onetool_packs::PacksConfig;
pub use onetool_run::RunOptions;
pub use onetool_run::shortcuts::{AliasOptions, SnippetOptions, SnippetParameter, SnippetType};
pub use onetool_store::results::OutputOptions;
pub use onetool_store::stats::StatsOptions;
pub use outline::{Outline, OutlineEntry, outline};
pub use protocol::{ProtocolConfig, ProtocolRevision};
pub use schema::json_schema;
pub use search::SearchConfig;
pub use server::ServerConfig;
pub use sources::{ApiConfig, StartupWait, UpstreamConfig};
pub use storage::StorageConfig;

/// The whole configuration. [`Default`] is the configuration without a file.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Config {
    /// The main file, if there is one.
    pub path: Option<PathBuf>,
    /// Every file that it was read from: the main one, its includes and the secrets.
    pub files: Vec<LoadedFile>,
    /// The name and instructions that clients see, and the time limit of a call.
    pub server: ServerConfig,
    /// Tools, resources and prompts that are declared in the file.
    pub declared: DeclaredOptions,
    /// Other MCP servers, by the names of their packs.
    pub servers: IndexMap<String, UpstreamConfig>,
    /// APIs with an OpenAPI description, by the names of their packs.
    pub apis: IndexMap<String, ApiConfig>,
    /// How long the first request that needs servers or APIs waits for those that are still connecting.
    pub startup_wait: StartupWait,
    /// Patterns of Python files that are packs of tools.
    pub pack_files: Vec<PathBuf>,
    /// Built-in packs.
    pub packs: PacksConfig,
    /// Documentation for agents, in addition to the descriptions of the tools.
    pub docs: DocsConfig,
    /// Short names for tools, in code.
    pub aliases: IndexMap<String, AliasOptions>,
    /// Named code.
    pub snippets: IndexMap<String, SnippetOptions>,
    /// The files that `ot.notify` writes to.
    pub notify: NotifyConfig,
    /// Limits of code in `run`.
    pub run: RunOptions,
    /// How large results are stored.
    pub output: OutputOptions,
    /// Statistics of calls.
    pub stats: StatsOptions,
    /// Search for tools.
    pub search: SearchConfig,
    /// Where results and statistics are stored.
    pub storage: StorageConfig,
    /// Old names of tools, each with the current name.
    pub renames: IndexMap<String, String>,
    /// The HTTP server.
    pub http: HttpConfig,
    /// The protocol spoken with clients.
    pub protocol: ProtocolConfig,
    /// Which tools may be called.
    pub policy: Policy,
    /// Removes the values of variables from messages.
    pub redactor: Redactor,
    /// Problems that do not prevent loading.
    pub warnings: Vec<String>,
    /// What is missing from the configuration, and who can add it. Clients get it with the server's instructions.
    pub notice: Option<String>,
}

/// Reads the configuration at `path`.
///
/// Variables come from `secrets.yaml` next to it, then from `env`. A relative `path` starts at the working directory.
///
/// # Errors
/// At the first problem, with its file and line.
pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Config, ConfigError> {
    let document = onetool_config::read(path, env)?;
    let config = from_document(&document).map_err(|error| error.scrubbed(&document.redactor))?;
    Ok(Config { path: absolute(path).ok(), ..config })
}

/// Reads a configuration from `text`.
#[cfg(fuzzing)]
pub(crate) fn load_text(text: &str) -> Result<Config, ConfigError> {
    from_document(&onetool_config::parse_text(text, Path::new("/fuzz/onetool.yaml"), &|_| None)?)
}

fn from_document(document: &Document) -> Result<Config, ConfigError> {
    let root = document.root();
    root.check_keys(&schema::KEYS)?;
    let packs = root.field("packs");
    packs.check_keys(&PacksConfig::keys().chain(["files"]).collect::<Vec<_>>())?;
    check_version(&root.field("version"))?;
    let servers = root.field("servers").read_entries(UpstreamConfig::read)?;
    let mut config = Config {
        apis: root.field("openapi").read_entries(|name, section| {
            if servers.contains_key(name) {
                return Err(section.invalid("'servers' has an entry of the same name; rename one"));
            }
            ApiConfig::read(name, section)
        })?,
        servers,
        startup_wait: root.field("startup_wait").read()?,
        server: root.field("server").read()?,
        declared: DeclaredOptions::read(&root)?,
        pack_files: pack_files(&packs.field("files"))?,
        packs: PacksConfig::read(&packs)?,
        docs: DocsConfig::read(&root.field("docs"))?,
        aliases: root.field("aliases").read_entries(AliasOptions::read)?,
        snippets: root.field("snippets").read_entries(SnippetOptions::read)?,
        notify: root.field("notify").read()?,
        run: root.field("run").read()?,
        output: root.field("output").read()?,
        stats: root.field("stats").read()?,
        search: SearchConfig::read(&root.field("search"))?,
        storage: StorageConfig::read(&root.field("storage"))?,
        renames: renames(&root.field("renames"))?,
        http: HttpConfig::read(&root.field("http"))?,
        protocol: root.field("protocol").read()?,
        policy: policy(&root.field("policy"))?,
        path: None,
        files: document.files.clone(),
        redactor: document.redactor.clone(),
        warnings: document.warnings.clone(),
        notice: None,
    };
    if let TokenConfig::Value(token) = &config.http.token {
        config.redactor = config.redactor.with(token.expose());
    }
    for secret in config.packs.secrets() {
        config.redactor = config.redactor.with(secret.expose());
    }
    Ok(config)
}

/// Rejects version 0. The format has already rejected versions that are too new.
fn check_version(section: &Section<'_>) -> Result<(), ConfigError> {
    match section.read::<Option<u64>>()? {
        Some(0) => Err(section.invalid("versions begin with 1")),
        _ => Ok(()),
    }
}

/// Reads the patterns of Python packs; by default, those next to the configuration.
fn pack_files(section: &Section<'_>) -> Result<Vec<PathBuf>, ConfigError> {
    let patterns: Option<Vec<String>> = section.read()?;
    Ok(match patterns {
        None => vec![section.absolute_path("packs/*.py")],
        Some(patterns) => patterns
            .iter()
            .enumerate()
            .map(|(index, pattern)| section.item(index).absolute_path(pattern))
            .collect(),
    })
}

fn renames(section: &Section<'_>) -> Result<IndexMap<String, String>, ConfigError> {
    section.read_entries(|old, section| {
        let new: String = section.read_required()?;
        check_name(old, section)?;
        check_name(&new, section)?;
        if old == new {
            return Err(section.invalid("the old and the new name are the same"));
        }
        Ok(new)
    })
}

fn policy(section: &Section<'_>) -> Result<Policy, ConfigError> {
    let policy: Policy = section.read()?;
    for (key, globs) in [("allow", &policy.allow), ("deny", &policy.deny)] {
        // It would match nothing, although it looks like a rule.
        if let Some(index) = globs.iter().position(|glob| glob.trim().is_empty()) {
            return Err(section.field(key).item(index).invalid("a pattern must not be empty"));
        }
    }
    Ok(policy)
}

fn check_name(name: &str, section: &Section<'_>) -> Result<(), ConfigError> {
    ToolName::new(name).check().map_err(|error| section.invalid(error.to_string()))
}

#[cfg(test)]
mod tests;
