//! An entry of `resources`.

use std::path::PathBuf;

use onetool_config::{ConfigError, FilePath, Location, NonEmpty, Section};
use onetool_core::media_type;
use schemars::JsonSchema;
use serde::Deserialize;

/// A resource: exactly one of `text` and `file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceFile {
    /// URI with a scheme, such as `docs://readme`.
    uri: String,
    /// Short name.
    name: NonEmpty,
    /// What the resource contains.
    description: Option<String>,
    /// MIME type of the contents. Default: `text/plain`, or `application/octet-stream` for a binary file.
    mime_type: Option<String>,
    /// Contents of the resource.
    text: Option<String>,
    /// File with the contents, instead of `text`; read on every request, up to 50 MiB.
    file: Option<FilePath>,
    /// Whether the file is binary. Default: true if `mime_type` is an image, audio, video, PDF, zip or
    /// `application/octet-stream`.
    blob: Option<bool>,
}

/// A resource made from text or a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceOptions {
    /// Its URI.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// What it contains.
    pub description: Option<String>,
    /// The MIME type of its contents.
    pub mime_type: Option<String>,
    /// Where the contents come from.
    pub body: ResourceBody,
    /// Where it is defined.
    pub at: Location,
}

/// Where the contents of a declared resource come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceBody {
    /// The contents themselves.
    Text(String),
    /// A file, read on every request.
    File {
        /// The file.
        path: PathBuf,
        /// Whether it is binary.
        blob: bool,
    },
}

impl ResourceOptions {
    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let file: ResourceFile = section.read_required()?;
        if url::Url::parse(&file.uri).is_err() {
            let message = "must be a URI with a scheme, for example docs://readme";
            return Err(section.field("uri").invalid(message));
        }
        if let Some(mime_type) = file.mime_type.as_deref().filter(|it| !media_type::is_valid(it)) {
            let message = format!("invalid MIME type '{mime_type}'; write it like text/markdown");
            return Err(section.field("mime_type").invalid(message));
        }
        let body = match (file.text, file.file) {
            (Some(_), None) if file.blob.is_some() => {
                return Err(section.field("blob").invalid("requires 'file'"));
            }
            (Some(text), None) => ResourceBody::Text(text),
            (None, Some(path)) => ResourceBody::File {
                path: path.into_path(),
                blob: file.blob.unwrap_or_else(|| is_binary(file.mime_type.as_deref())),
            },
            (Some(_), Some(_)) => return Err(section.invalid("use either 'text' or 'file', not both")),
            (None, None) => return Err(section.invalid("a resource requires 'text' or 'file'")),
        };
        let ResourceFile { uri, name, description, mime_type, .. } = file;
        let (name, at) = (name.into_string(), section.location().clone());
        Ok(Self { uri, name, description, mime_type, body, at })
    }
}

/// Guesses from a MIME type whether contents are binary; unknown types are text.
fn is_binary(mime_type: Option<&str>) -> bool {
    let Some(mime_type) = mime_type else { return false };
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["image/", "audio/", "video/"].iter().any(|family| essence.starts_with(family))
        || ["application/octet-stream", "application/pdf", "application/zip"].contains(&essence.as_str())
}
