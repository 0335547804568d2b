//! The key `notify`.

use onetool_config::{FilePath, NonEmpty};
use schemars::JsonSchema;
use serde::Deserialize;

/// Where `ot.notify` writes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct NotifyConfig {
    /// Topics and their files; the first pattern that matches is used.
    pub topics: Vec<TopicConfig>,
}

/// A kind of message and its file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicConfig {
    /// The topics: `*` matches anything but `:`, `**` matches anything.
    pub pattern: NonEmpty,
    /// The YAML file to append to.
    pub file: FilePath,
}
