//! The keys `tools`, `resources` and `prompts`.

mod command;
mod prompt;
mod request;
mod resource;
mod schema;
mod tool;

use std::collections::HashMap;

use onetool_config::{ConfigError, Location, Section};

pub use command::CommandOptions;
pub use prompt::{PromptFile, PromptMessageOptions, PromptOptions};
pub use request::RequestOptions;
pub use resource::{ResourceBody, ResourceFile, ResourceOptions};
pub use tool::{ToolBody, ToolFile, ToolOptions};

/// Everything that a configuration declares.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DeclaredOptions {
    /// Tools made from a request, a command or Python code.
    pub tools: Vec<ToolOptions>,
    /// Resources made from text or a file.
    pub resources: Vec<ResourceOptions>,
    /// Prompts made from templates.
    pub prompts: Vec<PromptOptions>,
}

impl DeclaredOptions {
    /// Reads the three keys from the top level of a configuration.
    ///
    /// # Errors
    /// At the first declaration that is invalid, or that has the same name as another.
    pub fn read(root: &Section<'_>) -> Result<Self, ConfigError> {
        let options = Self {
            tools: root.field("tools").read_items(ToolOptions::read)?,
            resources: root.field("resources").read_items(ResourceOptions::read)?,
            prompts: root.field("prompts").read_items(PromptOptions::read)?,
        };
        reject_duplicates("tool", options.tools.iter().map(|it| (&it.name, &it.at)))?;
        reject_duplicates("resource", options.resources.iter().map(|it| (&it.uri, &it.at)))?;
        reject_duplicates("resource", options.resources.iter().map(|it| (&it.name, &it.at)))?;
        reject_duplicates("prompt", options.prompts.iter().map(|it| (&it.name, &it.at)))?;
        Ok(options)
    }
}

fn reject_duplicates<'a>(
    kind: &'static str,
    names: impl Iterator<Item = (&'a String, &'a Location)>,
) -> Result<(), ConfigError> {
    let mut seen = HashMap::new();
    for (name, at) in names {
        if let Some(first) = seen.insert(name, at) {
            let (name, first) = (name.clone(), Box::new(first.clone()));
            return Err(ConfigError::Duplicate { kind, name, first, at: at.clone() });
        }
    }
    Ok(())
}
