//! The catalog as a person sees it: tools with their sources, packs, active sets, shortcuts.

use onetool_core::{JsonObject, ToolAnnotations};
use serde::{Deserialize, Serialize};

/// What a gateway is, and which of its parts are switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How many tools it has.
    pub tool_count: usize,
    /// How many of them are active for the caller.
    pub active_count: usize,
    /// Whether calls are remembered.
    pub history: bool,
    /// Whether statistics are kept.
    pub stats: bool,
    /// Whether code can be run.
    pub run: bool,
}

/// One tool in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolRow {
    /// Its canonical name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The pack that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// Where it comes from: `local`, `proxy:{server}` or `openapi:{api}`.
    pub source: String,
    /// Whether it is active for the caller.
    pub active: bool,
    /// Hints about its effects, those that are set.
    #[serde(skip_serializing_if = "says_nothing")]
    pub annotations: Option<ToolAnnotations>,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands the field over so")]
fn says_nothing(annotations: &Option<ToolAnnotations>) -> bool {
    annotations.is_none_or(|annotations| annotations.is_empty())
}

/// All that is known of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDetail {
    /// What stands in the list.
    #[serde(flatten)]
    pub row: ToolRow,
    /// The name that MCP clients see.
    pub flat_name: String,
    /// A Python-like signature.
    pub signature: String,
    /// The JSON Schema of the arguments.
    pub input_schema: JsonObject,
    /// The JSON Schema of the structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonObject>,
    /// Examples from the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Further words that it is found by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// What is suspicious about its definition, such as hidden instructions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A group of tools from one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackInfo {
    /// Its name.
    pub name: String,
    /// `local`, `proxy` or `openapi`.
    pub source: String,
    /// How many tools it has.
    pub tool_count: usize,
    /// What agents are told about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// The tools that a caller has active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActiveSet {
    /// Their canonical names.
    pub names: Vec<String>,
    /// How many these are.
    pub count: usize,
}

/// What can be typed in the place of longer things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Shortcuts {
    /// Other names of tools.
    pub aliases: Vec<Alias>,
    /// Code under a name.
    pub snippets: Vec<SnippetInfo>,
    /// Prompts.
    pub prompts: Vec<PromptInfo>,
}

/// Another name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alias {
    /// The other name.
    pub name: String,
    /// The tool.
    pub target: String,
}

/// Code under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnippetInfo {
    /// Its name, without the dollar sign.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub parameters: Vec<SnippetParameter>,
    /// The template.
    pub body: String,
    /// A call of it that works.
    pub example: String,
}

/// What a snippet takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnippetParameter {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is if it is left out; without one it is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A prompt that clients can get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptInfo {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
}

/// Code for the console.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleRequest {
    /// The code, in every form that the `run` tool takes.
    pub command: String,
}

/// What a command stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expansion {
    /// The code that would run.
    pub code: String,
}
