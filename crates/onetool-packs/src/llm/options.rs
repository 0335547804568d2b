//! The options of the pack `llm`.

use onetool_config::{AtLeast, ConfigError, NonEmpty, PendingChanges, Seconds, Secret, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api_key::ApiKey;
use crate::base_url::BaseUrl;
use crate::options::{PackContext, PackOptions};

/// Transforms text and data with a language model.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct LlmOptions {
    /// URL of an OpenAI-compatible API, such as `https://api.openai.com/v1`. Default: none; the model of the connected
    /// client is used.
    pub(crate) base_url: BaseUrl,
    /// Key for that API.
    pub(crate) api_key: ApiKey,
    /// Model to use; required with `base_url`.
    pub(crate) model: Option<NonEmpty>,
    /// Maximum number of tokens in a response.
    pub(crate) max_tokens: AtLeast<1>,
    /// Time limit of a response in seconds.
    pub(crate) timeout: Seconds,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            base_url: BaseUrl::default(),
            api_key: ApiKey::default(),
            model: None,
            max_tokens: AtLeast::new(4096),
            timeout: Seconds::new(120),
            enabled: true,
        }
    }
}

impl LlmOptions {
    /// Returns the URL of the API and the model, if they are configured.
    pub(super) fn endpoint(&self) -> Option<(&BaseUrl, &str)> {
        Some((&self.base_url, self.model.as_deref()?)).filter(|(url, _)| !url.is_empty())
    }
}

impl PackOptions for LlmOptions {
    const NAME: &'static str = "llm";

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn check(&mut self, section: &Section<'_>, _: &Section<'_>) -> Result<(), ConfigError> {
        self.api_key.check_sent_to(&self.base_url, &section.field("base_url"))?;
        match (self.base_url.is_empty(), &self.model) {
            (false, None) => Err(section.invalid("'base_url' requires 'model'")),
            // A key alone is fine: it may come from a variable that is always set. A model alone is a mistake.
            (true, Some(_)) => {
                let message = "requires 'base_url', the URL of an OpenAI-compatible API";
                Err(section.field("model").invalid(message))
            }
            _ => Ok(()),
        }
    }

    fn build(&self, context: &PackContext) -> Pack {
        super::build(self.clone(), context.redactor.clone())
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.api_key.get().into_iter().collect()
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let Self { max_tokens, timeout, enabled, .. } = new;
        let old = Self { max_tokens, timeout, enabled, ..self.clone() };
        pending.keep("packs.llm", &old, new)
    }
}

#[cfg(test)]
mod tests;
