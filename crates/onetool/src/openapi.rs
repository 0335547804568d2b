//! Tools from OpenAPI descriptions, for servers built in code.
//!
//! [`load`] turns a description into an [`Api`]. Pass it to [`ServerBuilder::pack`](crate::ServerBuilder::pack).

pub use onetool_openapi::{
    Api, ApiOptions, Auth, Credential, Filter, Limits, LoadError, OperationOverride, Origin, Report, load,
};
