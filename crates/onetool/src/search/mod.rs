//! Search over the catalog: the index that all sessions share, and the queries that led to tools.

mod catalog_index;
mod finder;

pub use onetool_search::{Document, Explanation, Field, Hit, Index, Match, MatchKind, Parameters};

pub(crate) use finder::Finder;
