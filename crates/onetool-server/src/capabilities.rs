//! What a server declares, computed from what is registered.

use crate::catalog::Catalog;

/// What a server declares to its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// There is at least one resource or template.
    pub resources: bool,
    /// There is at least one prompt.
    pub prompts: bool,
    /// Handlers may send log messages.
    pub logging: bool,
    /// Values can be proposed while somebody types.
    pub completions: bool,
}

impl Capabilities {
    pub(crate) fn of(catalog: &Catalog, logging: bool, completions: bool) -> Self {
        Self {
            resources: catalog.resources().next().is_some(),
            prompts: catalog.prompts().next().is_some(),
            logging,
            completions,
        }
    }
}
