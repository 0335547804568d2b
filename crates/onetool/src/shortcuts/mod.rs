//! Short ways to say long things: aliases of tools, and snippets of code.

mod alias;
mod call;
mod fill;
mod near;
mod scan;
mod snippet;

pub use alias::AliasError;
pub(crate) use alias::{Alias, Aliases};
#[cfg(feature = "python")]
pub(crate) use call::SnippetCall;
#[cfg(test)]
pub(crate) use snippet::tests;
pub(crate) use snippet::{Snippet, SnippetError, Snippets};
