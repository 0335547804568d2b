//! The key of an API.

use std::borrow::Cow;

use onetool_config::{ConfigError, Secret, Section};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::base_url::BaseUrl;

/// The key of an API, if one is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApiKey(Option<Secret>);

impl ApiKey {
    /// Returns the key.
    pub(crate) fn get(&self) -> Option<&Secret> {
        self.0.as_ref()
    }

    /// Rejects a URL to which the key would be sent unencrypted. `section` is that of the URL.
    pub(crate) fn check_sent_to(&self, url: &BaseUrl, section: &Section<'_>) -> Result<(), ConfigError> {
        if self.0.is_some() && url.exposes_keys() {
            return Err(section.invalid("a key sent over plain http can be read by others; use https"));
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for ApiKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let text = text.trim();
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err(D::Error::custom("must have only ASCII characters and no spaces"));
        }
        // `${NAME:-}` expands to an empty key if the variable is not set.
        Ok(Self((!text.is_empty()).then(|| Secret::new(text))))
    }
}

impl JsonSchema for ApiKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ApiKey".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
