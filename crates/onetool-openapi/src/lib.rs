//! OpenAPI descriptions as tools.
//!
//! [`load`] reads a description (OpenAPI 3.0 and 3.1, Swagger 2.0; JSON or YAML), plans a call for every operation, and
//! gives back one [`Tool`](onetool_core::Tool) each. Only the plan stays in memory: names, descriptions, and one block
//! of texts out of which schemas are built when somebody asks for them.
//!
//! An internal component crate of onetool; it promises no stable API.

mod cache;
mod call;
mod document;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod load;
mod media_type;
mod names;
mod options;
mod plan;
mod reader;
mod schema;
mod source;
mod store;
mod transport;

pub use error::{LoadError, PlanError};
pub use guard::{NetworkGuard, Refused, is_public};
pub use load::{Api, Loader, Report, load};
pub use options::{ApiOptions, Auth, Credential, Filter, Limits, OperationOverride, Secret};
pub use reader::{JOB, read_description};
pub use source::Origin;
