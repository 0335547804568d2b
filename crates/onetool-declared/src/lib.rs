//! Tools, resources and prompts that a configuration declares: HTTP requests, commands, files and templates.

mod command_tool;
mod http_tool;
mod options;
mod prompt;
mod resource;
mod template;

use std::sync::Arc;
use std::time::Duration;

use onetool_config::{Location, Redactor};
use onetool_core::{Prompt, Resource, Tool, ToolSpec};
use onetool_proxy::ChildContext;

pub use options::{
    CommandOptions, DeclaredOptions, PromptFile, PromptMessageOptions, PromptOptions, RequestOptions,
    ResourceBody, ResourceFile, ResourceOptions, ToolBody, ToolFile, ToolOptions,
};
pub use template::TemplateError;

/// A declaration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot declare '{name}'")]
#[non_exhaustive]
pub struct DeclareError {
    /// The tool or prompt.
    pub name: String,
    /// Where it is declared.
    pub at: Location,
    /// What is wrong.
    #[source]
    pub source: TemplateError,
}

/// Everything that a configuration declares, each with its location.
pub struct Declared {
    /// The tools.
    pub tools: Vec<(Location, Arc<dyn Tool>)>,
    /// The resources.
    pub resources: Vec<(Location, Arc<dyn Resource>)>,
    /// The prompts.
    pub prompts: Vec<(Location, Arc<dyn Prompt>)>,
}

/// Creates a tool from Python code; the error says what is wrong with the code.
pub type PythonTools<'a> = &'a dyn Fn(ToolSpec, &str, Option<Duration>) -> Result<Arc<dyn Tool>, String>;

impl Declared {
    /// Creates everything that the options declare, without registering it.
    ///
    /// # Errors
    /// At the first declaration that cannot be used.
    pub fn new(
        options: &DeclaredOptions,
        redactor: &Redactor,
        children: &ChildContext,
        python: PythonTools<'_>,
    ) -> Result<Self, DeclareError> {
        let client = http_tool::LazyClient::default();
        let tool = |tool: &ToolOptions| -> Result<_, DeclareError> {
            let failed = |source| DeclareError { name: tool.name.clone(), at: tool.at.clone(), source };
            let (spec, redactor, timeout) = (spec(tool), redactor.clone(), tool.timeout);
            let created: Arc<dyn Tool> = match &tool.body {
                ToolBody::Http(body) => {
                    let created = http_tool::HttpTool::new(spec, body, timeout, client.clone(), redactor);
                    Arc::new(created.map_err(failed)?)
                }
                ToolBody::Command(body) => {
                    let created =
                        command_tool::CommandTool::new(spec, body, timeout, children.clone(), redactor);
                    Arc::new(created.map_err(failed)?)
                }
                ToolBody::Python(code) => {
                    python(spec, code, timeout).map_err(|reason| failed(TemplateError::Invalid { reason }))?
                }
            };
            Ok((tool.at.clone(), created))
        };
        let resources = options.resources.iter().map(|it| -> (_, Arc<dyn Resource>) {
            (it.at.clone(), Arc::new(resource::DeclaredResource::new(it)))
        });
        let prompt = |it: &PromptOptions| -> Result<(_, Arc<dyn Prompt>), DeclareError> {
            let failed = |source| DeclareError { name: it.name.clone(), at: it.at.clone(), source };
            let created = prompt::TemplatePrompt::new(it).map_err(failed)?;
            Ok((it.at.clone(), Arc::new(created)))
        };
        Ok(Self {
            tools: options.tools.iter().map(tool).collect::<Result<_, _>>()?,
            resources: resources.collect(),
            prompts: options.prompts.iter().map(prompt).collect::<Result<_, _>>()?,
        })
    }
}

fn spec(tool: &ToolOptions) -> ToolSpec {
    let mut spec =
        ToolSpec::new(tool.name.as_str(), &tool.description).with_input_schema(tool.input_schema.clone());
    spec.title.clone_from(&tool.title);
    spec.annotations = tool.annotations;
    spec
}
