//! The configuration: one YAML file, what it includes, and the secrets beside it.
//!
//! Text → tree with lines (`parse`, `tree`) → includes merged (`include`) → variables expanded (`expand`) →
//! as written (`file`, read by `de`) → as meant (`resolved`, made and checked by `resolve`).

mod de;
mod error;
mod expand;
mod file;
mod include;
mod loaded;
mod outline;
mod packs;
mod packs_file;
mod parse;
mod resolve;
mod resolved;
mod search;
mod secrets;
mod snippet_type;
mod source_file;
mod tree;

use std::path::{Path, absolute};

use serde_json::Value;

pub use error::ConfigError;
pub use loaded::{FileDigest, LoadedFile};
pub use outline::{Outline, OutlineEntry, outline};
pub use packs::{
    BaseUrl, BravePackConfig, DatabaseAddress, DatabaseConfig, DbPackConfig, FilePackConfig, LlmEndpoint,
    LlmPackConfig, PackagePackConfig, PacksConfig, RipgrepPackConfig, WebPackConfig,
};
pub use resolved::{
    AliasConfig, ApiConfig, CommandToolConfig, Config, DocsConfig, HttpConfig, HttpToolConfig, OutputConfig,
    PackFilesConfig, PromptConfig, PromptMessageConfig, ProtocolRevision, ResourceBody, ResourceConfig,
    RunConfig, ServerConfig, SnippetConfig, SnippetParamConfig, StartupWait, StatsConfig, TokenConfig,
    ToolBody, ToolConfig, TopicConfig, UpstreamConfig,
};
pub use search::SearchConfig;
pub use secrets::{Redactor, Secret};
pub use snippet_type::SnippetType;
pub use tree::Location;

/// The newest version of the format that this onetool reads.
const KNOWN_VERSION: u64 = 1;

/// The file beside the main one that variables come from.
pub(crate) const SECRETS_FILE: &str = "secrets.yaml";

/// Reads the configuration at `path`.
///
/// Variables come from `secrets.yaml` beside it, then from `env`. A relative path is taken from where the process is.
///
/// # Errors
/// At the first thing that is wrong, with its file and line.
pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Config, ConfigError> {
    let path =
        &absolute(path).map_err(|source| ConfigError::Read { path: path.to_owned(), at: None, source })?;
    let (mut tree, mut files) = include::read_tree(path)?;
    let mut warnings = Vec::new();
    let secrets_file = path.with_file_name(SECRETS_FILE);
    let secrets = secrets::read_secrets(&secrets_file, &mut warnings, &mut files)?;
    let mut variables = expand::Variables::new(secrets, env);
    variables.expand(&mut tree, "")?;
    let redactor = Redactor::new(variables.into_values());
    let config = de::from_tree(&tree)
        .and_then(|file| resolve::resolve(file, &tree))
        .map_err(|error| error.scrubbed(&redactor))?;
    let redactor = match &config.http.token {
        TokenConfig::Value(token) => redactor.with(token.expose()),
        _ => redactor,
    };
    let redactor = config.packs.secrets().fold(redactor, |redactor, it| redactor.with(it.expose()));
    Ok(Config { path: Some(path.clone()), files, redactor, warnings, ..config })
}

/// Reads a configuration that is this text and nothing else.
#[cfg(fuzzing)]
pub(crate) fn load_text(text: &str) -> Result<Config, ConfigError> {
    let tree = parse::parse(text, &Path::new("/fuzz/onetool.yaml").into(), &mut parse::Budget(100_000))?;
    let mut tree = tree;
    expand::Variables::new(indexmap::IndexMap::new(), &|_| None).expand(&mut tree, "")?;
    de::from_tree(&tree).and_then(|file| resolve::resolve(file, &tree))
}

/// Returns the JSON Schema of the configuration file.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(file::ConfigFile);
    schema.insert("$id".into(), "https://onetool.beycom.online/onetool.schema.json".into());
    schema.insert("title".into(), "onetool configuration".into());
    schema.to_value()
}

#[cfg(test)]
mod tests;
