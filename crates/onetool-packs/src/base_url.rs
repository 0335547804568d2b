//! The base URL of an API.

use std::borrow::Cow;
use std::fmt;

use onetool_config::HttpUrl;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::{Host, Url};

/// The URL that the paths of an API are appended to; may be empty.
///
/// It may contain a secret, so its debug output shows only the host.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct BaseUrl(String);

impl BaseUrl {
    /// Wraps a URL that does not end with a slash.
    pub(crate) fn new(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// Returns whether there is no URL, for example after `${NAME:-}`.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the URL of a path.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.0)
    }

    /// Returns the URL of a path with query parameters.
    pub(crate) fn with_query(&self, path: &str, parameters: &[(&str, String)]) -> String {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        format!("{}/{path}?{query}", self.0)
    }

    /// Returns whether others could read a key on its way there: it is plain http to another host.
    pub(crate) fn exposes_keys(&self) -> bool {
        let is_loopback = |url: &Url| match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        Url::parse(&self.0).is_ok_and(|url| url.scheme() == "http" && !is_loopback(&url))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = Url::parse(&self.0).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or("?");
        write!(f, "BaseUrl({host})")
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let url = HttpUrl::parse(&text).map_err(D::Error::custom)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(D::Error::custom("must not contain '?' or '#', because paths are appended to it"));
        }
        Ok(Self::new(url.as_str().trim_end_matches('/')))
    }
}

impl JsonSchema for BaseUrl {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "BaseUrl".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
