//! An entry of `prompts`.

use std::collections::HashSet;

use onetool_config::{ConfigError, Location, NonEmpty, Section, TemplateNames};
use onetool_core::{PromptArgument, Role};
use schemars::JsonSchema;
use serde::Deserialize;

/// A prompt: exactly one of `template` and `messages`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptFile {
    /// Name of the prompt.
    name: NonEmpty,
    /// Display name.
    title: Option<String>,
    /// What the prompt does.
    description: Option<String>,
    /// Arguments.
    #[serde(default)]
    arguments: Vec<PromptArgumentFile>,
    /// A single user message; may contain `{{ argument }}`.
    template: Option<String>,
    /// Messages, instead of `template`.
    messages: Option<Vec<PromptMessageOptions>>,
}

/// An argument of a prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PromptArgumentFile {
    /// Name of the argument.
    name: NonEmpty,
    /// What it means.
    description: Option<String>,
    /// Whether it is required.
    #[serde(default)]
    required: bool,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptMessageOptions {
    /// Author of the message.
    pub role: Role,
    /// Text of the message; may contain `{{ argument }}`.
    pub text: String,
}

/// A prompt made from templates.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptOptions {
    /// Its name.
    pub name: String,
    /// Its display name.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Its arguments.
    pub arguments: Vec<PromptArgument>,
    /// Its messages.
    pub messages: Vec<PromptMessageOptions>,
    /// Where it is defined.
    pub at: Location,
}

impl PromptOptions {
    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let file: PromptFile = section.read_required()?;
        let arguments = arguments(file.arguments, &section.field("arguments"))?;
        let names: HashSet<String> = arguments.iter().map(|it| it.name.clone()).collect();
        let names = TemplateNames::new(names);
        let messages = match (file.template, file.messages) {
            (Some(text), None) => {
                names.check(&text, &section.field("template"))?;
                vec![PromptMessageOptions { role: Role::User, text }]
            }
            (None, Some(messages)) if !messages.is_empty() => {
                let section = section.field("messages");
                for (index, message) in messages.iter().enumerate() {
                    names.check(&message.text, &section.item(index).field("text"))?;
                }
                messages
            }
            (Some(_), Some(_)) => {
                return Err(section.invalid("use either 'template' or 'messages', not both"));
            }
            _ => return Err(section.invalid("a prompt requires 'template' or 'messages'")),
        };
        let PromptFile { name, title, description, .. } = file;
        let (name, at) = (name.into_string(), section.location().clone());
        Ok(Self { name, title, description, arguments, messages, at })
    }
}

fn arguments(
    files: Vec<PromptArgumentFile>,
    section: &Section<'_>,
) -> Result<Vec<PromptArgument>, ConfigError> {
    let mut seen = HashSet::new();
    let mut arguments = Vec::new();
    for (index, PromptArgumentFile { name, description, required }) in files.into_iter().enumerate() {
        let name = name.into_string();
        if !seen.insert(name.clone()) {
            let section = section.item(index).field("name");
            return Err(section.invalid(format!("duplicate argument '{name}'")));
        }
        arguments.push(PromptArgument { name, description, required });
    }
    Ok(arguments)
}
