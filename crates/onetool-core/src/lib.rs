//! The core types of onetool: tools, resources, prompts, and the values passed between them and their callers.
//!
//! This crate has no runtime, transport or configuration. Depend on it alone to write tools that any onetool server
//! can serve. Depend on `onetool-server` for an MCP server, and on `onetool` for a gateway.
//!
//! - A [`Tool`] is a function that a model can call: [`tool_fn`], [`dynamic_tool`].
//! - A [`Resource`] is data that a client can read: [`resource_fn`].
//! - A [`Prompt`] is a message template for users: [`prompt_fn`].
//! - Handlers get a [`CallContext`], which reports progress and requests input from the client.
//! - A [`Pack`] is a named group of tools.
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

mod caller;
#[doc(hidden)]
pub mod clock;
mod content;
mod context;
#[doc(hidden)]
pub mod current;
mod docs;
mod error;
mod error_chain;
mod example;
mod input;
mod json;
#[doc(hidden)]
pub mod lines;
#[doc(hidden)]
pub mod media_type;
mod name;
mod origin;
mod overflow;
mod pack;
mod policy;
mod prompt;
mod provider;
mod python;
#[doc(hidden)]
pub mod random;
mod redact;
mod resource;
mod schema;
mod secret;
mod shape;
mod signature;
mod similar;
#[doc(hidden)]
pub mod state;
#[doc(hidden)]
pub mod sync;
mod tool;
mod uri_template;
#[cfg(feature = "validate")]
#[doc(hidden)]
pub mod validate;
mod wildcard;

pub use caller::Caller;
pub use content::{ContentBlock, ResourceContents, ToolOutput};
pub use context::{CallContext, CallHost, ClientInfo, LogLevel, Progress, SessionId};
pub use docs::ToolDocs;
pub use error::{BoxError, InputError, NameError, PromptError, ProviderError, ResourceError, ToolError};
#[doc(hidden)]
pub use error_chain::error_chain;
pub use example::example_call;
pub use input::{InputKind, InputRequest, InputRequired, InputState};
#[doc(hidden)]
pub use json::{MAX_JSON_WEIGHT, json_size, json_weight, parse_bounded_json};
#[doc(hidden)]
pub use name::FLAT_NAME_MAX;
pub use name::ToolName;
#[doc(hidden)]
pub use origin::{Authority, WebOrigin};
#[doc(hidden)]
pub use overflow::{Overflow, OverflowStore};
pub use pack::{Pack, PackError};
#[doc(hidden)]
pub use policy::{Policy, Verdict};
pub use prompt::{
    IntoPromptMessages, Prompt, PromptArgument, PromptFn, PromptMessage, PromptOutput, PromptSpec, Role,
    prompt_fn,
};
pub use provider::ToolsProvider;
#[doc(hidden)]
pub use provider::{AsyncClosure, ToolList};
#[doc(hidden)]
pub use python::{is_python_builtin, python_global, python_identifier};
#[doc(hidden)]
pub use redact::FailureRedactor;
pub use resource::{IntoResourceContents, ReadRequest, Resource, ResourceFn, ResourceSpec, resource_fn};
pub use schema::Schema;
#[doc(hidden)]
pub use secret::{Redactor, Secret};
#[doc(hidden)]
pub use shape::{Field, LearnedShape, MissingKey, Record, Shape, Step};
#[doc(hidden)]
pub use signature::{Parameter, parameters, python_type, quoted_signature, short_signature, signature};
#[doc(hidden)]
pub use similar::{abbreviate, shorten, similar_items, similar_names, similarity};
#[doc(hidden)]
pub use tool::{Declares, Returns, SameAs, Undeclared};
pub use tool::{IntoToolOutput, Json, Tool, ToolAnnotations, ToolFn, ToolSpec, dynamic_tool, tool_fn};
pub use uri_template::UriTemplate;
#[cfg(feature = "validate")]
pub use validate::ArgumentError;
#[doc(hidden)]
pub use wildcard::matches_wildcard;

/// A JSON object that preserves the order of its keys.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// A boxed future, for use in object-safe traits.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
