//! Where documents are, and which of them a reference may reach.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use url::Url;

/// The location of a document; references in the document are relative to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Location {
    File(PathBuf),
    Url(#[serde(serialize_with = "serialize_url", deserialize_with = "deserialize_url")] Url),
    /// Text without a URL.
    Inline,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => f.write_str(&redacted_url(url)),
            Self::Inline => f.write_str("the description"),
        }
    }
}

fn serialize_url<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.as_str())
}

fn deserialize_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Formats a URL without the parts that may be secret: user, password, query and fragment.
pub(crate) fn redacted_url(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have a user or a password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

impl Location {
    /// Resolves the document part of a reference in this document.
    ///
    /// A file must be under the directory of the description at `root`, a URL must have its origin.
    pub(crate) fn join(&self, root: &Self, reference: &str) -> Result<Self, String> {
        match (self, root) {
            (Self::File(path), Self::File(_)) => {
                let reference = percent_encoding::percent_decode_str(reference).decode_utf8_lossy();
                let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
                if reference.contains(':') || !Path::new(&*reference).components().all(is_plain) {
                    return Err(format!(
                        "'{reference}' may be outside the description's directory; use a path inside it"
                    ));
                }
                let joined = path.parent().unwrap_or(Path::new("")).join(&*reference);
                Ok(Self::File(joined.components().collect()))
            }
            (Self::Url(url), Self::Url(root)) => {
                let joined = url
                    .join(reference)
                    .map_err(|error| format!("invalid reference '{reference}': {error}"))?;
                if joined.origin() != root.origin() {
                    return Err(format!("'{reference}' is on a different origin than the description"));
                }
                Ok(Self::Url(joined))
            }
            _ => Err(format!("cannot resolve '{reference}': the description has no URL")),
        }
    }
}
