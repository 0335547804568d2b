//! Tool discovery over HTTP and a web page, as a router for any axum application.
//!
//! [`router`] serves the tools of a [`ToolsProvider`](onetool_core::ToolsProvider): a fixed `Vec<Arc<dyn Tool>>`, or a
//! function that is called on every request.
//!
//! ```
//! use std::sync::Arc;
//!
//! use onetool_core::{CallContext, JsonObject, Tool, ToolSpec, dynamic_tool};
//! use onetool_web::{WebOptions, router};
//!
//! let echo = dynamic_tool(ToolSpec::new("echo", "Echoes its arguments."), |args: JsonObject, _cx: CallContext| {
//!     async move { serde_json::Value::Object(args).to_string() }
//! });
//! let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(echo)];
//! let options = WebOptions::default().title("My tools").allow_execute(true);
//! let app: axum::Router = axum::Router::new().nest_service("/agents/tools", router(tools, options));
//! ```
//!
//! | route | response |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /tools` | `[{name, description, annotations?}]` |
//! | `GET /tools/{name}` | the same object with `inputSchema` |
//! | `POST /tools/{name}/validate` | `{valid, errors?}`; never calls the tool |
//! | `POST /tools/{name}/call` | the tool's output; 500 if it is an error |
//!
//! Every route checks, in this order: the origin of the request (403), its sender (401), whether tools may be called
//! (403), whether the tool exists (404), the body (400). The page and its assets are open and contain no data.
//!
//! Mount it with `nest_service`, which works with and without a trailing slash; with `nest`, axum does not route the
//! trailing slash. At the root, use `merge`.
//!
//! A gateway composes the same parts itself, behind its own access control: [`page_routes`], [`tools_routes`] over its
//! own [`ToolsApi`], and the layers [`security_headers`] and [`catch_panics`].

mod assets;
mod guard;
mod layers;
mod options;
mod page;
mod request;
mod response;
mod router;
mod tools;

pub use layers::{catch_panics, require_execution, security_headers};
pub use onetool_core::validate::ArgumentError;
pub use options::{ToolCall, WebOptions};
pub use page::{PageOptions, page_routes};
pub use request::{JsonBody, MaxBody, QueryParams};
pub use response::ApiError;
pub use router::router;
pub use tools::{InvalidArguments, ToolsApi, output_response, tools_routes};
