//! The plan of a call: which argument goes where, and how it is written there.
//!
//! Plans lie as JSON in the store and are read when a tool is called; keys are short because there are thousands.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// All that is needed to call an operation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallPlan {
    #[serde(rename = "m")]
    pub(crate) method: String,
    /// The path with its `{variables}`.
    #[serde(rename = "p")]
    pub(crate) path: String,
    /// A server that only this operation has.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) arguments: Vec<Argument>,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Body>,
    /// `None` where the description says nothing.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(crate) security: Option<Vec<Alternative>>,
    #[serde(rename = "t")]
    pub(crate) accept: String,
}

/// One way to be let in: schemes, all of which are needed, and the scopes of each.
pub(crate) type Alternative = IndexMap<String, Vec<String>>;

/// An argument outside the body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Argument {
    #[serde(rename = "n")]
    pub(crate) name: String,
    #[serde(rename = "w")]
    pub(crate) wire: String,
    #[serde(rename = "p")]
    pub(crate) place: Place,
    #[serde(flatten)]
    pub(crate) encoding: Encoding,
}

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

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Encoding {
    #[serde(rename = "s")]
    pub(crate) style: Style,
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) explode: bool,
    /// Reserved characters of URLs are sent as they are.
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reserved: bool,
}

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

/// What is sent as body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Body {
    #[serde(rename = "m")]
    pub(crate) media_type: String,
    #[serde(rename = "k")]
    pub(crate) kind: BodyKind,
    /// The argument that holds the whole body; without it the fields are arguments of their own.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub(crate) whole: Option<String>,
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<Field>,
    /// Arguments that are not planned belong to the body too.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) extra: bool,
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

/// A property of an object that is sent as body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Field {
    #[serde(rename = "n")]
    pub(crate) name: String,
    #[serde(rename = "w")]
    pub(crate) wire: String,
    /// How a form writes it; `None` for the usual way.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<Encoding>,
    /// A file, given as base64 or as a data URI.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) file: bool,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
}

/// A way to prove who calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scheme {
    ApiKey { name: String, place: Place },
    Basic,
    Bearer,
    OAuth2 { token_url: Option<String> },
    Other,
}
