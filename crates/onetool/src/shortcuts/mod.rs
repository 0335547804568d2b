//! Short ways to say long things: aliases of tools, and snippets of code.

mod alias;
mod call;
mod fill;
mod scan;
mod shipped;
mod snippet;

pub use alias::AliasError;
pub(crate) use alias::{Alias, Aliases};
#[cfg(feature = "_run")]
pub(crate) use call::SnippetCall;
pub(crate) use shipped::shipped;
#[cfg(test)]
pub(crate) use snippet::tests;
pub(crate) use snippet::{Snippet, SnippetError, Snippets};

use std::sync::{Arc, LazyLock};

use crate::catalog::Catalog;

/// The shortcuts of a configuration, which belong to the catalog that they were made for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shortcuts {
    pub(crate) aliases: Arc<Aliases>,
    pub(crate) snippets: Arc<Snippets>,
}

impl Shortcuts {
    /// Returns the shortcuts of a catalog; none without a configuration.
    pub(crate) fn of(catalog: &Catalog) -> &Self {
        static NONE: LazyLock<Shortcuts> = LazyLock::new(Shortcuts::default);
        let attached = catalog.rules().attached.as_deref();
        attached.and_then(|attached| attached.downcast_ref()).unwrap_or(&NONE)
    }
}
