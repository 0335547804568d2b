//! Tools, resources and prompts that the configuration declares.

mod command_tool;
mod http_tool;
mod prompt;
mod resource;
mod template;

use std::ffi::OsString;
use std::sync::Arc;

use onetool_core::{Prompt, Resource, Tool, ToolSpec};
use onetool_proxy::Surroundings;

use crate::config::{Config, Location, ToolBody, ToolConfig};
use crate::interpreter::Interpreter;

pub use template::TemplateError;

/// The few variables that a child process inherits, handed in by the program that reads its own environment.
pub type ChildEnvironment = Vec<(OsString, OsString)>;

/// A declaration that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[error("'{name}' cannot be declared: {source}")]
pub struct DeclareError {
    /// The tool or prompt.
    pub name: String,
    /// Where it stands.
    pub at: Location,
    /// What is wrong.
    #[source]
    pub source: TemplateError,
}

/// Everything that a configuration declares, each with its place in it.
pub(crate) struct Declared {
    pub(crate) tools: Vec<(Location, Arc<dyn Tool>)>,
    pub(crate) resources: Vec<(Location, Arc<dyn Resource>)>,
    pub(crate) prompts: Vec<(Location, Arc<dyn Prompt>)>,
}

impl Declared {
    /// Makes what the configuration declares, without registering any of it.
    pub(crate) fn from_config(
        config: &Config,
        around: &Surroundings,
        interpreter: &Interpreter,
    ) -> Result<Self, DeclareError> {
        let client = http_tool::LazyClient::default();
        let tool = |tool: &ToolConfig| -> Result<_, DeclareError> {
            let failed = |source| DeclareError { name: tool.name.clone(), at: tool.at.clone(), source };
            let (spec, redactor, timeout) = (spec(tool), config.redactor.clone(), tool.timeout);
            let made: Arc<dyn Tool> = match &tool.body {
                ToolBody::Http(body) => {
                    let made = http_tool::HttpTool::new(spec, body, timeout, client.clone(), redactor);
                    Arc::new(made.map_err(failed)?)
                }
                ToolBody::Command(body) => {
                    let made = command_tool::CommandTool::new(spec, body, timeout, around.clone(), redactor);
                    Arc::new(made.map_err(failed)?)
                }
                ToolBody::Python(code) => interpreter
                    .tool(spec, code, timeout)
                    .map_err(|reason| failed(TemplateError::Syntax { reason }))?,
            };
            Ok((tool.at.clone(), made))
        };
        let resources = config.resources.iter().map(|it| -> (_, Arc<dyn Resource>) {
            (it.at.clone(), Arc::new(resource::DeclaredResource::new(it)))
        });
        let prompt = |it: &crate::config::PromptConfig| -> Result<(_, Arc<dyn Prompt>), DeclareError> {
            let made = prompt::TemplatePrompt::new(it);
            let made =
                made.map_err(|source| DeclareError { name: it.name.clone(), at: it.at.clone(), source })?;
            Ok((it.at.clone(), Arc::new(made)))
        };
        Ok(Self {
            tools: config.tools.iter().map(tool).collect::<Result<_, _>>()?,
            resources: resources.collect(),
            prompts: config.prompts.iter().map(prompt).collect::<Result<_, _>>()?,
        })
    }
}

fn spec(tool: &ToolConfig) -> ToolSpec {
    let mut spec =
        ToolSpec::new(tool.name.as_str(), &tool.description).with_input_schema(tool.input_schema.clone());
    spec.title.clone_from(&tool.title);
    spec.annotations = tool.annotations;
    spec
}
