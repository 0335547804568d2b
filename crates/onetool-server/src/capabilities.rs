//! The capabilities that a server declares, computed from its catalog.

use crate::catalog::Catalog;

/// The capabilities that a server declares to its clients.
///
/// ```
/// use onetool_server::Server;
///
/// let capabilities = Server::builder().logging().build()?.capabilities();
/// assert!(capabilities.logging && !capabilities.prompts);
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether the server has a resource or resource template.
    pub resources: bool,
    /// Whether the server has a prompt.
    pub prompts: bool,
    /// Whether handlers can send log messages to the client.
    pub logging: bool,
    /// Whether the server suggests values for arguments while the user types.
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
