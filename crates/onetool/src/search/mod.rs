//! Which tools a query means: an index of every tool, searched by weighted and explainable TF-IDF.
//!
//! ```
//! use onetool::search::{Document, Index};
//!
//! let mut index = Index::new();
//! index.insert(&Document { name: "web.fetch", description: "Fetch a page.", pack: "web", ..Document::default() });
//! index.insert(&Document { name: "mail.send", description: "Send a letter.", pack: "mail", ..Document::default() });
//! let hits = index.search("send some mails", 5);
//! assert_eq!(&*hits[0].name, "mail.send");
//! ```

mod document;
mod follow;
mod fuzzy;
mod index;
mod query;
mod rank;
mod tokenize;
mod words;

pub use document::{Document, Parameters, REMEMBERED_MAX};
pub(crate) use follow::CatalogIndex;
pub use index::{Field, Index};
pub use rank::{Explanation, Hit, Match, MatchKind};

#[cfg(test)]
mod tests;
