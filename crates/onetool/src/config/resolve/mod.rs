//! As written → as meant: defaults filled in, everything checked that types alone do not say.

mod code;
mod http;
mod packs;
mod primitive;
mod schema;
mod sources;
mod template;
mod tool;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use onetool_core::ToolName;

use super::ConfigError;
use super::file::{ConfigFile, DocsFile, PolicyFile, ServerFile, ToolDocsFile};
use super::resolved::{Config, DocsConfig, ServerConfig};
use super::tree::{Location, Node, Place};
use crate::catalog::{Policy, ToolDocs};
pub(super) use packs::files as pack_files;

/// Checks what was written; `tree` is where it was read from, and says the lines.
pub(super) fn resolve(file: ConfigFile, tree: &Node) -> Result<Config, ConfigError> {
    let root = Place::root(tree);
    if file.version == Some(0) {
        return Err(ConfigError::invalid(&root.field("version"), "versions begin with 1"));
    }
    let servers = sources::upstreams(file.servers.unwrap_or_default(), &root.field("servers"))?;
    let mut bundled = file.packs.unwrap_or_default();
    let pack_files = bundled.files.take();
    let config = Config {
        apis: sources::apis(file.openapi.unwrap_or_default(), &servers, &root.field("openapi"))?,
        servers,
        startup_wait: sources::startup_wait(file.startup_wait, &root.field("startup_wait"))?,
        server: server(file.server.unwrap_or_default(), &root.field("server"))?,
        tools: each(file.tools, &root.field("tools"), tool::resolve)?,
        pack_files: self::pack_files(pack_files.as_deref(), &root.field("packs").field("files")),
        packs: packs::bundled(bundled, &root.field("packs"))?,
        resources: each(file.resources, &root.field("resources"), primitive::resource)?,
        prompts: each(file.prompts, &root.field("prompts"), primitive::prompt)?,
        docs: docs(file.docs.unwrap_or_default(), &root.field("docs"))?,
        aliases: code::aliases(file.aliases.unwrap_or_default(), &root.field("aliases"))?,
        snippets: code::snippets(file.snippets.unwrap_or_default(), &root.field("snippets"))?,
        notify: code::topics(file.notify.unwrap_or_default(), &root.field("notify"))?,
        run: code::run(file.run.unwrap_or_default(), &root.field("run"))?,
        output: code::output(file.output.unwrap_or_default(), &root.field("output"))?,
        stats: code::stats(&file.stats.unwrap_or_default()),
        search: super::search::resolve(file.search.unwrap_or_default(), &root.field("search"))?,
        storage: code::storage(file.storage.unwrap_or_default(), &root.field("storage"))?,
        renames: renames(file.renames.unwrap_or_default(), &root.field("renames"))?,
        http: http::resolve(file.http.unwrap_or_default(), &root.field("http"))?,
        protocol_max: file.protocol.and_then(|it| it.max).unwrap_or_default(),
        policy: policy(file.policy.unwrap_or_default(), &root.field("policy"))?,
        ..Config::default()
    };
    once("tool", config.tools.iter().map(|it| (&it.name, &it.at)))?;
    once("resource", config.resources.iter().map(|it| (&it.uri, &it.at)))?;
    once("resource", config.resources.iter().map(|it| (&it.name, &it.at)))?;
    once("prompt", config.prompts.iter().map(|it| (&it.name, &it.at)))?;
    Ok(config)
}

fn each<T, U>(
    items: Option<Vec<T>>,
    place: &Place<'_>,
    resolve: fn(T, &Place<'_>) -> Result<U, ConfigError>,
) -> Result<Vec<U>, ConfigError> {
    let items = items.into_iter().flatten().enumerate();
    items.map(|(index, item)| resolve(item, &place.item(index))).collect()
}

/// Refuses a name that is used twice.
fn once<'a>(
    kind: &'static str,
    names: impl Iterator<Item = (&'a String, &'a Location)>,
) -> Result<(), ConfigError> {
    let mut seen = HashMap::new();
    for (name, at) in names {
        if let Some(first) = seen.insert(name, at) {
            let (name, first) = (name.clone(), Box::new(first.clone()));
            return Err(ConfigError::Twice { kind, name, first, at: at.clone() });
        }
    }
    Ok(())
}

fn server(file: ServerFile, place: &Place<'_>) -> Result<ServerConfig, ConfigError> {
    let default = ServerConfig::default();
    Ok(ServerConfig {
        name: filled(file.name, &place.field("name"))?.unwrap_or(default.name),
        instructions: file.instructions,
        call_timeout: seconds(file.call_timeout, &place.field("call_timeout"))?
            .unwrap_or(default.call_timeout),
    })
}

fn docs(file: DocsFile, place: &Place<'_>) -> Result<DocsConfig, ConfigError> {
    let default = DocsConfig::default();
    let base_url = file.base_url.unwrap_or(default.base_url);
    let is_web = url::Url::parse(&base_url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_web {
        return Err(ConfigError::invalid(&place.field("base_url"), "has to begin with http:// or https://"));
    }
    let tools = file.tools.unwrap_or_default();
    for name in tools.keys() {
        check_name(name, &place.field("tools").field(name))?;
    }
    let tools = tools.into_iter().map(|(name, docs)| (name, tool_docs(docs))).collect();
    Ok(DocsConfig { base_url, packs: file.packs.unwrap_or_default(), tools })
}

fn tool_docs(file: ToolDocsFile) -> ToolDocs {
    ToolDocs {
        description: file.description,
        examples: file.examples.unwrap_or_default(),
        keywords: file.keywords.unwrap_or_default(),
        category: file.category,
        returns: None,
    }
}

fn renames(
    names: IndexMap<String, String>,
    place: &Place<'_>,
) -> Result<IndexMap<String, String>, ConfigError> {
    for (old, new) in &names {
        let place = place.field(old);
        check_name(old, &place)?;
        check_name(new, &place)?;
        if old == new {
            return Err(ConfigError::invalid(&place, "the old and the new name are the same"));
        }
    }
    Ok(names)
}

fn policy(file: PolicyFile, place: &Place<'_>) -> Result<Policy, ConfigError> {
    let default = Policy::default();
    let config = Policy { allow: file.allow.unwrap_or(default.allow), deny: file.deny.unwrap_or_default() };
    for (key, globs) in [("allow", &config.allow), ("deny", &config.deny)] {
        // A rule that matches nothing looks like one that does: an empty one is a mistake.
        if let Some(index) = globs.iter().position(|glob| glob.trim().is_empty()) {
            return Err(ConfigError::invalid(&place.field(key).item(index), "a pattern cannot be empty"));
        }
    }
    Ok(config)
}

pub(super) fn check_name(name: &str, place: &Place<'_>) -> Result<(), ConfigError> {
    ToolName::new(name).check().map_err(|error| ConfigError::invalid(place, error.to_string()))
}

/// Refuses an empty text.
fn filled(text: Option<String>, place: &Place<'_>) -> Result<Option<String>, ConfigError> {
    match text {
        Some(text) if text.trim().is_empty() => Err(ConfigError::invalid(place, "cannot be empty")),
        text => Ok(text),
    }
}

/// Reads a time limit. The upper bound keeps deadlines within what clocks can count.
fn seconds(number: Option<f64>, place: &Place<'_>) -> Result<Option<Duration>, ConfigError> {
    let Some(number) = number else { return Ok(None) };
    let duration = Duration::try_from_secs_f64(number).ok();
    match duration.filter(|it| !it.is_zero() && *it <= Duration::from_hours(24)) {
        Some(duration) => Ok(Some(duration)),
        None => Err(ConfigError::invalid(place, "has to be more than 0 and at most 86400 seconds")),
    }
}

/// Makes a path absolute, seen from the file that holds it.
pub(super) fn resolve_path(path: &str, place: &Place<'_>) -> PathBuf {
    let directory = place.at.file.parent().unwrap_or(&place.at.file);
    // Collecting the components leaves `.` out.
    directory.join(path).components().collect()
}
