//! OpenAPI descriptions as tools, for servers that a program builds itself.
//!
//! [`load`] turns a description into an [`Api`], which [`ServerBuilder::pack`](crate::ServerBuilder::pack) takes.

pub use onetool_openapi::{
    Api, ApiOptions, Auth, Credential, Filter, Limits, LoadError, OperationOverride, Origin, Report, load,
};
