//! The key `notify`.

use onetool_config::{FilePath, NonEmpty};
use schemars::JsonSchema;
use serde::Deserialize;

/// Files that `ot.notify` writes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct NotifyConfig {
    /// Patterns of topics, each with a file. `ot.notify` uses the first pattern that matches.
    pub topics: Vec<TopicConfig>,
}

/// A pattern of topics and its file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TopicConfig {
    /// Pattern for topics: `*` matches anything but `:`, `**` matches anything.
    pub pattern: NonEmpty,
    /// YAML file to append messages to.
    pub file: FilePath,
}
