//! Shortcuts in code: aliases of tools, and snippets of code.

mod alias;
mod call;
mod error;
mod fill;
mod options;
mod scan;
mod shipped;
mod snippet;
mod snippet_type;

pub use alias::{Alias, AliasError, Aliases};
pub use call::SnippetCall;
pub use error::SnippetError;
pub use options::{AliasOptions, SnippetOptions, SnippetParameter};
pub use shipped::shipped;
pub use snippet::{Snippet, Snippets};
pub use snippet_type::SnippetType;

use std::sync::{Arc, LazyLock};

use onetool_server::catalog::Catalog;

/// The shortcuts of a configuration; each catalog has its own.
#[derive(Debug, Clone, Default)]
pub struct Shortcuts {
    /// Short names for tools.
    pub aliases: Arc<Aliases>,
    /// Named code templates.
    pub snippets: Arc<Snippets>,
}

impl Shortcuts {
    /// Returns the shortcuts of a catalog; a catalog without a configuration has none.
    pub fn of(catalog: &Catalog) -> &Self {
        static NONE: LazyLock<Shortcuts> = LazyLock::new(Shortcuts::default);
        let attached = catalog.rules().attached.as_deref();
        attached.and_then(|attached| attached.downcast_ref()).unwrap_or(&NONE)
    }
}
