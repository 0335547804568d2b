//! OpenAPI descriptions as tools.
//!
//! [`load`] reads a description (OpenAPI 3.0 and 3.1, Swagger 2.0; JSON or YAML), plans a call for every operation, and
//! returns one [`Tool`](onetool_core::Tool) per operation. Only the plan stays in memory: names, descriptions, and one
//! block of text from which schemas are built on demand.
//!
//! An internal component crate of onetool; it promises no stable API.

mod api;
mod cache;
mod call;
mod dialect;
mod document;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod load;
mod location;
mod media_type;
mod names;
mod options;
mod plan;
mod reader;
mod schema;
mod source;
mod store;
mod transport;

pub use api::{Api, Report};
pub use error::{LoadError, PlanError};
pub use guard::{GuardError, NetworkGuard, is_public};
pub use load::{Loader, load};
pub use options::{ApiOptions, Auth, Credential, Filter, Limits, OperationOverride};
pub use reader::{JOB, read_description};
pub use source::Origin;
