//! Ranks tools for a query: an index of every tool, searched with weighted TF-IDF scores that can be explained.
//!
//! ```
//! use onetool_search::{Document, Index};
//!
//! let mut index = Index::new();
//! index.insert(&Document { name: "web.fetch", description: "Fetch a page.", pack: "web", ..Document::default() });
//! index.insert(&Document { name: "mail.send", description: "Send a letter.", pack: "mail", ..Document::default() });
//! let hits = index.search("send some mails", 5);
//! assert_eq!(&*hits[0].name, "mail.send");
//! ```

mod document;
mod fuzzy;
mod index;
mod query;
mod rank;
mod stop_words;
mod tokenize;
mod verbs;

pub use document::{Document, Parameters, REMEMBERED_MAX};
pub use index::{Field, Index};
pub use query::MatchKind;
pub use rank::{Explanation, Hit, Match};

#[cfg(test)]
mod tests;
