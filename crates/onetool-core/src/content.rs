//! Content that handlers return: content blocks, resource contents and tool outputs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;

/// A content block, serialized as MCP defines it.
///
/// `extra` contains the other keys of a block: `annotations`, `_meta`, and keys from newer revisions. They are passed on
/// unchanged.
///
/// ```
/// use onetool_core::ContentBlock;
///
/// let block = ContentBlock::text("hello");
/// assert_eq!(block.as_text(), Some("hello"));
/// let json = serde_json::to_value(ContentBlock::image([1, 2], "image/png"))?;
/// assert_eq!(json, serde_json::json!({"type": "image", "data": "AQI=", "mimeType": "image/png"}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Other keys of the block.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// An image.
    Image {
        /// The bytes in base64.
        data: String,
        /// The MIME type.
        mime_type: String,
        /// Other keys of the block.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// Audio.
    Audio {
        /// The bytes in base64.
        data: String,
        /// The MIME type.
        mime_type: String,
        /// Other keys of the block.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// An embedded resource.
    Resource {
        /// The contents.
        resource: ResourceContents,
        /// Other keys of the block.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A link to a resource.
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// A short name.
        name: String,
        /// The description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The MIME type of its contents.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Other keys of the block.
        #[serde(flatten)]
        extra: JsonObject,
    },
    /// A block of an unknown type.
    #[serde(untagged)]
    Other(JsonObject),
}

impl ContentBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: JsonObject::new() }
    }

    /// Creates an image block from raw bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: BASE64.encode(bytes), mime_type: mime_type.into(), extra: JsonObject::new() }
    }

    /// Creates an audio block from raw bytes.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: BASE64.encode(bytes), mime_type: mime_type.into(), extra: JsonObject::new() }
    }

    /// Creates a block with an embedded resource.
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

    /// Returns whether the block has no extra keys.
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
/// A handler may leave the URI empty; the server then fills in the requested one.
///
/// ```
/// use onetool_core::ResourceContents;
///
/// let text = ResourceContents::text("# Read me", "text/markdown");
/// let image = ResourceContents::blob([1, 2], "image/png").with_uri("docs://logo");
/// assert_eq!((text.text.as_deref(), image.blob.as_deref()), (Some("# Read me"), Some("AQI=")));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// The URI of these contents.
    pub uri: String,
    /// The MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text of text contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes of binary contents, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Other keys: `_meta`, and keys from newer revisions.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl ResourceContents {
    /// Creates text contents with the given MIME type.
    pub fn text(text: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::empty(mime_type.into()) }
    }

    /// Creates binary contents with the given MIME type from raw bytes.
    pub fn blob(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self { blob: Some(BASE64.encode(bytes)), ..Self::empty(mime_type.into()) }
    }

    fn empty(mime_type: String) -> Self {
        let (uri, extra) = (String::new(), JsonObject::new());
        Self { uri, mime_type: Some(mime_type), text: None, blob: None, extra }
    }

    /// Sets the URI, for contents other than the requested resource.
    #[must_use]
    pub fn with_uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = uri.into();
        self
    }
}

/// The output of a tool call.
///
/// ```
/// use onetool_core::ToolOutput;
/// use serde_json::json;
///
/// assert!(ToolOutput::error("no such order").is_error);
/// let output = ToolOutput::structured(json!({"total": 5}));
/// assert_eq!(output.structured_content, Some(json!({"total": 5})));
/// assert_eq!(output.content[0].as_text(), Some(r#"{"total":5}"#));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The content for the model.
    pub content: Vec<ContentBlock>,
    /// The same output as data, if the tool returns data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool reports an error.
    #[serde(default)]
    pub is_error: bool,
    /// Protocol metadata, passed on unchanged.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
}

impl ToolOutput {
    /// Creates an output with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// Creates an error output with one text block.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Creates an output with data; its content is the same data as compact JSON, for clients that read only content.
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
