//! Search over tools: an in-memory index that ranks tools by weighted TF-IDF and explains each score.
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

pub use document::{Document, MAX_REMEMBERED, Parameters};
pub use index::{Field, Index};
pub use query::MatchKind;
pub use rank::{Explanation, Hit, Match};

#[cfg(test)]
mod tests;
