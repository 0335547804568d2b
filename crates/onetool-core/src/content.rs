//! What handlers give back: content blocks, resource contents and a tool's whole output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;

/// One piece of content, in the shape that MCP puts on the wire.
///
/// `extra` holds what else a block says: `annotations`, `_meta`, and keys of revisions that this version does not know.
/// They are passed on as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What else the block says.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A picture.
    Image {
        /// The bytes in base64.
        data: String,
        /// What they are.
        mime_type: String,
        /// What else the block says.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// Sound.
    Audio {
        /// The bytes in base64.
        data: String,
        /// What they are.
        mime_type: String,
        /// What else the block says.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A resource, with its contents.
    Resource {
        /// The contents.
        resource: ResourceContents,
        /// What else the block says.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A resource, by its address.
    ResourceLink {
        /// The address.
        uri: String,
        /// A short name.
        name: String,
        /// What it is for.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// What it holds.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// What else the block says.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A block of a kind that this version does not know.
    #[serde(untagged)]
    Other(JsonObject),
}

impl ContentBlock {
    /// Makes a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: JsonObject::new() }
    }

    /// Makes an image block from raw bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: BASE64.encode(bytes), mime_type: mime_type.into(), extra: JsonObject::new() }
    }

    /// Makes an audio block from raw bytes.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: BASE64.encode(bytes), mime_type: mime_type.into(), extra: JsonObject::new() }
    }

    /// Makes a block that carries a resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource { resource: contents, extra: JsonObject::new() }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns whether the block says nothing that its kind has no field for.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Text { extra, .. }
            | Self::Image { extra, .. }
            | Self::Audio { extra, .. }
            | Self::ResourceLink { extra, .. } => extra.is_empty(),
            Self::Resource { resource, extra } => extra.is_empty() && resource.extra.is_empty(),
            Self::Other(_) => false,
        }
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// The contents of a resource: text, or bytes in base64.
///
/// A handler may leave the URI empty; the server then fills in the one that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// The address of these contents.
    pub uri: String,
    /// What they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, if these contents are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base64, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Other keys: `_meta`, and those of newer revisions.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl ResourceContents {
    /// Makes text contents of the given MIME type.
    pub fn text(text: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::empty(mime_type.into()) }
    }

    /// Makes binary contents of the given MIME type from raw bytes.
    pub fn blob(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self { blob: Some(BASE64.encode(bytes)), ..Self::empty(mime_type.into()) }
    }

    fn empty(mime_type: String) -> Self {
        let (uri, extra) = (String::new(), JsonObject::new());
        Self { uri, mime_type: Some(mime_type), text: None, blob: None, extra }
    }

    /// Sets the address, for contents that differ from what was asked for.
    #[must_use]
    pub fn at(mut self, uri: impl Into<String>) -> Self {
        self.uri = uri.into();
        self
    }
}

/// The whole output of a tool call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// What a model reads.
    pub content: Vec<ContentBlock>,
    /// The same as data, if the tool has data to give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether this is bad news.
    #[serde(default)]
    pub is_error: bool,
    /// Protocol metadata, passed on as it is.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
}

impl ToolOutput {
    /// Makes an output of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// Makes an output that is bad news, in one text block.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Makes an output of data; models that read only content get the same as compact JSON text.
    pub fn structured(value: Value) -> Self {
        let text = value.to_string();
        Self { structured_content: Some(value), ..Self::text(text) }
    }
}

impl From<Vec<ContentBlock>> for ToolOutput {
    fn from(content: Vec<ContentBlock>) -> Self {
        Self { content, ..Self::default() }
    }
}

impl From<ContentBlock> for ToolOutput {
    fn from(block: ContentBlock) -> Self {
        vec![block].into()
    }
}
