//! The keys `aliases` and `snippets`.

use std::collections::HashSet;

use indexmap::IndexMap;
use onetool_config::{ConfigError, Location, NonEmpty, Section, TemplateNames};
use onetool_core::ToolName;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::snippet_type::SnippetType;

/// A short name for a tool, in code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasOptions {
    /// The tool or the other alias that it refers to.
    pub target: String,
    /// Where it is defined.
    pub at: Location,
}

impl AliasOptions {
    /// Reads an entry of `aliases:`.
    ///
    /// # Errors
    /// When the alias or its target is not a valid name.
    pub fn read(name: &str, section: &Section<'_>) -> Result<Self, ConfigError> {
        if !is_identifier(name) {
            return Err(section.invalid("an alias must be a Python name, such as ws"));
        }
        let target: String = section.read_required()?;
        ToolName::new(&*target).check().map_err(|error| section.invalid(error.to_string()))?;
        Ok(Self { target, at: section.location().clone() })
    }
}

/// Named code with parameters.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SnippetOptions {
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// Parameters, in order.
    #[serde(default)]
    pub params: IndexMap<String, SnippetParameter>,
    /// Python code that contains `{{ parameter }}`.
    pub body: NonEmpty,
}

/// A parameter of a snippet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SnippetParameter {
    /// Type of its values. Default: the type of `default`, or any.
    #[serde(rename = "type")]
    pub kind: Option<SnippetType>,
    /// Value if a call does not set it.
    pub default: Option<Value>,
    /// What it means.
    pub description: Option<String>,
    /// Value to show in examples.
    pub example: Option<Value>,
    /// Whether a call must set it. Default: true, unless it has a `default`.
    pub required: Option<bool>,
}

impl SnippetParameter {
    /// Returns whether a call must give it.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(self.default.is_none())
    }
}

impl SnippetOptions {
    /// Reads an entry of `snippets:`.
    ///
    /// # Errors
    /// When its name or template is invalid, or when a default does not have the parameter's type.
    pub fn read(name: &str, section: &Section<'_>) -> Result<Self, ConfigError> {
        if !is_identifier(name) {
            return Err(section.invalid("the name of a snippet has only letters, digits and _"));
        }
        let snippet: Self = section.read_required()?;
        let names: HashSet<String> = snippet.params.keys().cloned().collect();
        TemplateNames::new(names).check(&snippet.body, &section.field("body"))?;
        for (name, parameter) in &snippet.params {
            let section = section.field("params").field(name);
            for (key, value) in [("default", &parameter.default), ("example", &parameter.example)] {
                if let (Some(kind), Some(value)) = (parameter.kind, value)
                    && !kind.accepts(value)
                {
                    let message = format!("must be {}, as 'type' says", kind.with_article());
                    return Err(section.field(key).invalid(message));
                }
            }
        }
        Ok(snippet)
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
