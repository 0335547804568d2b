//! The version of OpenAPI that a document is written in.

use serde_json::Value;

use crate::document::Document;

/// The version of OpenAPI, which decides how a document's schemas are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Swagger2,
    OpenApi30,
    OpenApi31,
}

impl Dialect {
    /// Returns the dialect that a document declares.
    pub(crate) fn from_document(document: &Document<'_>) -> Result<Self, String> {
        let version = |key| match document.top_level(key) {
            Some(Value::String(version)) => Some(version),
            Some(Value::Number(version)) => Some(version.to_string()),
            _ => None,
        };
        if let Some(version) = version("swagger") {
            return if version.starts_with('2') {
                Ok(Self::Swagger2)
            } else {
                Err(format!("Swagger {version} is not supported, only 2.0"))
            };
        }
        match version("openapi") {
            Some(version) if version.starts_with("3.0") => Ok(Self::OpenApi30),
            Some(version) if version.starts_with('3') => Ok(Self::OpenApi31),
            Some(version) => Err(format!("OpenAPI {version} is not supported, only 3.x")),
            None => Err("neither 'openapi' nor 'swagger' is set at the top level".to_owned()),
        }
    }
}
