//! The nouns of onetool: tools, resources, prompts, and what is passed between them and their callers.
//!
//! This crate knows no runtime, no transport and no configuration. Depend on it alone to write tools that any
//! onetool server can carry; depend on `onetool` to build the server.
//!
//! ```
//! use onetool_core::{CallContext, Tool, tool_fn};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City {
//!     /// Name of the city.
//!     city: String,
//! }
//!
//! let tool = tool_fn("weather.now", "Fetch current weather.", |args: City, _cx: CallContext| async move {
//!     format!("sunny in {}", args.city)
//! });
//! assert_eq!(tool.spec().signature(), "weather.now(city: str)");
//! ```

mod content;
mod context;
#[doc(hidden)]
pub mod current;
mod error;
mod failure_log;
mod input;
mod json;
mod name;
mod origin;
mod overflow;
mod pack;
mod prompt;
mod provider;
#[doc(hidden)]
pub mod random;
mod resource;
mod schema;
mod signature;
mod similar;
#[doc(hidden)]
pub mod sync;
mod tool;
mod uri_template;
#[cfg(feature = "validate")]
pub mod validate;
mod wildcard;

pub use content::{ContentBlock, ResourceContents, ToolOutput};
pub use context::{CallContext, CallHost, Caller, ClientInfo, LogLevel, Progress};
pub use error::{BoxError, InputError, NameError, PromptError, ProviderError, ResourceError, ToolError};
#[doc(hidden)]
pub use failure_log::FailureLog;
pub use input::{InputKind, InputRequest, InputRequired, InputState};
#[doc(hidden)]
pub use json::{MAX_JSON_WEIGHT, json_weight, light_json};
pub use name::{FLAT_NAME_MAX, ToolName};
pub use origin::{Authority, WebOrigin};
pub use overflow::{Overflow, OverflowStore};
pub use pack::Pack;
pub use prompt::{
    IntoPromptMessages, Prompt, PromptArgument, PromptFn, PromptMessage, PromptOutput, PromptSpec, Role,
    prompt_fn,
};
pub use provider::{ToolList, ToolsProvider, Waits};
pub use resource::{IntoResourceContents, ReadRequest, Resource, ResourceFn, ResourceSpec, resource_fn};
pub use schema::Schema;
pub use signature::{Parameter, parameters, python_type, short_signature, signature};
pub use similar::{COMPARED_MAX, shorten, shown, similar_items, similar_names, similarity};
pub use tool::{
    Declares, IntoToolOutput, Is, Json, Returns, Tool, ToolAnnotations, ToolFn, ToolSpec, Undeclared,
    dynamic_tool, tool_fn,
};
pub use uri_template::UriTemplate;
pub use wildcard::matches_wildcard;

/// A JSON object whose keys keep the order in which they were written.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// A future that can be stored behind a trait object.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
