//! What stands around code: aliases, snippets, limits, results, statistics, notes.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;

use super::template::Names;
use super::{check_name, filled, resolve_path, seconds};
use crate::config::ConfigError;
use crate::config::file::{NotifyFile, OutputFile, RunFile, SnippetFile, StatsFile, StorageFile};
use crate::config::resolved::{
    AliasConfig, OutputConfig, RunConfig, SnippetConfig, SnippetParamConfig, StatsConfig, TopicConfig,
};
use crate::config::tree::Place;

const MB: u64 = 1024 * 1024;
/// The interpreter itself needs some room.
const LEAST_MEMORY_MB: u64 = 16;

pub(super) fn aliases(
    names: IndexMap<String, String>,
    place: &Place<'_>,
) -> Result<IndexMap<String, AliasConfig>, ConfigError> {
    let alias = |(name, target): (String, String)| {
        let place = place.field(&name);
        if !is_identifier(&name) {
            return Err(ConfigError::invalid(&place, "an alias has to be a Python name, such as ws"));
        }
        check_name(&target, &place)?;
        Ok((name, AliasConfig { target, at: place.at.clone() }))
    };
    names.into_iter().map(alias).collect()
}

pub(super) fn snippets(
    files: IndexMap<String, SnippetFile>,
    place: &Place<'_>,
) -> Result<IndexMap<String, SnippetConfig>, ConfigError> {
    let snippet = |(name, file): (String, SnippetFile)| {
        let place = place.field(&name);
        if !is_identifier(&name) {
            return Err(ConfigError::invalid(&place, "a snippet's name has letters, digits and _ only"));
        }
        filled(Some(file.body.clone()), &place.field("body"))?;
        let names = Names(Some(file.params.keys().cloned().collect()));
        names.check(&file.body, &place.field("body"))?;
        let params = file.params.into_iter().map(|(name, param)| {
            let place = place.field("params").field(&name);
            for (key, value) in [("default", &param.default), ("example", &param.example)] {
                if let (Some(kind), Some(value)) = (param.kind, value)
                    && !kind.fits(value)
                {
                    let message = format!("has to be {}, as 'type' says", kind.with_article());
                    return Err(ConfigError::invalid(&place.field(key), message));
                }
            }
            let required = param.required.unwrap_or(param.default.is_none());
            let param = SnippetParamConfig {
                kind: param.kind,
                default: param.default,
                description: param.description,
                example: param.example,
                required,
            };
            Ok((name, param))
        });
        let config = SnippetConfig {
            description: file.description,
            params: params.collect::<Result<_, _>>()?,
            body: file.body,
            at: place.at.clone(),
        };
        Ok((name, config))
    };
    files.into_iter().map(snippet).collect()
}

pub(super) fn topics(file: NotifyFile, place: &Place<'_>) -> Result<Vec<TopicConfig>, ConfigError> {
    let place = place.field("topics");
    let topics = file.topics.unwrap_or_default().into_iter().enumerate();
    let topic = |(index, topic): (usize, crate::config::file::TopicFile)| {
        let place = place.item(index);
        filled(Some(topic.pattern.clone()), &place.field("pattern"))?;
        filled(Some(topic.file.clone()), &place.field("file"))?;
        Ok(TopicConfig { file: resolve_path(&topic.file, &place.field("file")), pattern: topic.pattern })
    };
    topics.map(topic).collect()
}

pub(super) fn run(file: RunFile, place: &Place<'_>) -> Result<RunConfig, ConfigError> {
    let default = RunConfig::default();
    if file.memory_mb.is_some_and(|it| it < LEAST_MEMORY_MB) {
        return Err(ConfigError::invalid(&place.field("memory_mb"), "has to be at least 16"));
    }
    for (key, is_zero) in
        [("max_parallel", file.max_parallel == Some(0)), ("max_concurrent", file.max_concurrent == Some(0))]
    {
        if is_zero {
            return Err(ConfigError::invalid(&place.field(key), "has to be at least 1"));
        }
    }
    if file.max_total_memory_mb.is_some_and(|it| it < LEAST_MEMORY_MB) {
        return Err(ConfigError::invalid(&place.field("max_total_memory_mb"), "has to be at least 16"));
    }
    Ok(RunConfig {
        timeout: seconds(file.timeout, &place.field("timeout"))?.unwrap_or(default.timeout),
        memory: file.memory_mb.map_or(default.memory, |it| it.saturating_mul(MB)),
        max_calls: file.max_calls.unwrap_or(default.max_calls),
        max_parallel: file.max_parallel.unwrap_or(default.max_parallel),
        max_print: file.max_print.unwrap_or(default.max_print),
        max_result: file.max_result.unwrap_or(default.max_result),
        max_buffer: file.max_buffer.unwrap_or(default.max_buffer),
        max_concurrent: file.max_concurrent.unwrap_or(default.max_concurrent),
        max_total_memory: file.max_total_memory_mb.map(|it| it.saturating_mul(MB)),
        max_waiting: file.max_waiting.unwrap_or(default.max_waiting),
        require_cage: file.require_cage.unwrap_or(default.require_cage),
    })
}

pub(super) fn output(file: OutputFile, place: &Place<'_>) -> Result<OutputConfig, ConfigError> {
    let default = OutputConfig::default();
    Ok(OutputConfig {
        max_inline_size: file.max_inline_size.unwrap_or(default.max_inline_size),
        result_ttl: seconds(file.result_ttl, &place.field("result_ttl"))?.unwrap_or(default.result_ttl),
        preview_lines: file.preview_lines.unwrap_or(default.preview_lines),
        max_store: file.max_store.unwrap_or(default.max_store),
    })
}

pub(super) fn stats(file: &StatsFile) -> StatsConfig {
    let default = StatsConfig::default();
    StatsConfig {
        enabled: file.enabled.unwrap_or(default.enabled),
        turn: file.turn_ms.map_or(default.turn, Duration::from_millis),
    }
}

pub(super) fn storage(file: StorageFile, place: &Place<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let Some(url) = file.url else { return Ok(None) };
    let place = place.field("url");
    match url.strip_prefix("sqlite:").filter(|it| !it.is_empty()) {
        Some(path) => Ok(Some(resolve_path(path, &place))),
        None => {
            let message = "has to be 'sqlite:' and a file, for example sqlite:onetool.db";
            Err(ConfigError::invalid(&place, message))
        }
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
