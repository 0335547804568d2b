//! Aliases, snippets and prompts.

use axum::Json;
use axum::extract::State;
use onetool_run::shortcuts::{self, Snippet};
use serde::Serialize;

use super::{ApiResult, Gateway};

#[derive(Serialize)]
pub(super) struct Shortcuts {
    aliases: Vec<Alias>,
    snippets: Vec<SnippetInfo>,
    prompts: Vec<PromptInfo>,
}

/// Another name of a tool.
#[derive(Serialize)]
struct Alias {
    name: String,
    target: String,
}

/// A named piece of code.
#[derive(Serialize)]
struct SnippetInfo {
    /// Its name, without the dollar sign.
    name: String,
    description: String,
    parameters: Vec<SnippetParameter>,
    /// The code, with `{{ parameter }}` in it.
    body: String,
    /// An example call.
    example: String,
}

#[derive(Serialize)]
struct SnippetParameter {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The default value. A parameter without one is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
}

#[derive(Serialize)]
struct PromptInfo {
    name: String,
    description: String,
    /// The names of its arguments.
    arguments: Vec<String>,
}

pub(super) async fn list(State(inner): Gateway) -> ApiResult<Shortcuts> {
    let catalog = inner.server.catalog();
    let own = shortcuts::Shortcuts::of(&catalog);
    let alias = |(name, alias): (&str, &shortcuts::Alias)| Alias {
        name: name.to_owned(),
        target: alias.tool.to_string(),
    };
    let prompts = catalog.prompts().map(|prompt| {
        let spec = prompt.spec();
        PromptInfo {
            name: spec.name.clone(),
            description: spec.description.clone().unwrap_or_default(),
            arguments: spec.arguments.iter().map(|argument| argument.name.clone()).collect(),
        }
    });
    Ok(Json(Shortcuts {
        aliases: own.aliases.iter().map(alias).collect(),
        snippets: own.snippets.iter().map(snippet).collect(),
        prompts: prompts.collect(),
    }))
}

fn snippet(snippet: &Snippet) -> SnippetInfo {
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parameters = snippet.params.iter().map(|(name, parameter)| SnippetParameter {
        name: name.clone(),
        description: parameter.description.clone(),
        default: parameter.default.as_ref().map(text),
    });
    SnippetInfo {
        name: snippet.name.clone(),
        description: snippet.description.clone(),
        parameters: parameters.collect(),
        body: snippet.body.clone(),
        example: snippet.example().0,
    }
}
