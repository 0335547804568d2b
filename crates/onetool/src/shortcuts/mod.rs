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
