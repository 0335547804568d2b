//! The plan of an API: its operations, and for each of them where arguments go and how they are encoded.

use indexmap::IndexMap;
use onetool_core::ToolAnnotations;
use serde::{Deserialize, Serialize};

use crate::store::{Span, Store};

/// Everything that is kept of a description.
pub(crate) struct Plan {
    pub(crate) header: PlanHeader,
    pub(crate) operations: Vec<Operation>,
    pub(crate) store: Store,
}

/// The part of a plan that concerns the API as a whole.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlanHeader {
    pub(crate) title: String,
    pub(crate) version: String,
    /// The URL of the API, if the description has a valid one.
    pub(crate) base_url: Option<String>,
    /// Why there is no `base_url`.
    pub(crate) base_url_error: String,
    pub(crate) schemes: IndexMap<String, Scheme>,
    /// Operations that cannot be called, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// Operations whose names were shortened or made unique, with the new name.
    pub(crate) renamed: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) token_estimate: usize,
}

/// An operation that becomes a tool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Operation {
    /// Its operationId, or method and path.
    pub(crate) key: String,
    /// Its name inside the pack.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) annotations: ToolAnnotations,
    /// Its own server, if it has one.
    pub(crate) server: Option<String>,
    /// Its [`CallPlan`].
    pub(crate) call: Span,
    /// Its input schema.
    pub(crate) input: Span,
    /// Its output schema.
    pub(crate) output: Option<Span>,
}

/// Everything needed to call an operation.
///
/// It is stored as JSON and parsed when the tool is called. Keys are short because there may be thousands of plans.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallPlan {
    #[serde(rename = "m")]
    pub(crate) method: String,
    /// The path, with its `{variables}`.
    #[serde(rename = "p")]
    pub(crate) path: String,
    /// The operation's own server, if it has one.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) arguments: Vec<Argument>,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Body>,
    /// `None` if the description does not say.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(crate) security: Option<Vec<SecurityRequirement>>,
    #[serde(rename = "t")]
    pub(crate) accept: String,
}

/// One of several ways to authenticate: security schemes, all of them required, with their scopes.
pub(crate) type SecurityRequirement = IndexMap<String, Vec<String>>;

/// An argument outside the body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Argument {
    #[serde(rename = "n")]
    pub(crate) name: String,
    #[serde(rename = "w")]
    pub(crate) wire_name: String,
    #[serde(rename = "p")]
    pub(crate) place: Place,
    #[serde(flatten)]
    pub(crate) encoding: Encoding,
}

/// Where a parameter or an API key goes: the `in` of the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Place {
    #[serde(rename = "p")]
    Path,
    #[serde(rename = "q")]
    Query,
    #[serde(rename = "h")]
    Header,
    #[serde(rename = "c")]
    Cookie,
}

/// How a value is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Encoding {
    #[serde(rename = "s")]
    pub(crate) style: Style,
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) explode: bool,
    /// Whether the reserved characters of URLs are sent unescaped.
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reserved: bool,
}

/// The styles of OpenAPI 3, those of Swagger 2.0's `collectionFormat`, and JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    Space,
    Pipe,
    Tab,
    Deep,
    /// As JSON text.
    Json,
}

/// A request body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Body {
    #[serde(rename = "m")]
    pub(crate) media_type: String,
    #[serde(rename = "k")]
    pub(crate) kind: BodyKind,
    /// The argument that contains the whole body. If `None`, each field is a separate argument.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub(crate) argument: Option<String>,
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<Field>,
    /// Whether arguments without a plan also belong to the body.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) accepts_extra: bool,
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BodyKind {
    Json,
    Form,
    Multipart,
    Text,
    Binary,
}

/// A property of an object that is sent as the body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Field {
    #[serde(rename = "n")]
    pub(crate) name: String,
    #[serde(rename = "w")]
    pub(crate) wire_name: String,
    /// How a form encodes it; `None` for the default.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<Encoding>,
    /// Whether it is a file, passed as base64 or as a data URI.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_file: bool,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
}

/// A security scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scheme {
    ApiKey { name: String, place: Place },
    Basic,
    Bearer,
    OAuth2 { token_url: Option<String> },
    Other,
}
