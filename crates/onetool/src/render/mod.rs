//! The only room that makes text: answers as YAML, and the cards that `ot` shows.

mod card;
mod doc_url;
mod overview;
mod snippet;

pub(crate) use card::{
    AliasCard, Match, MatchGroup, PackCard, ToolCard, ToolDetails, alias_card, name_groups, names, no_match,
    nothing, pack_card, pack_listing, search_results, summary, tool_card,
};
pub(crate) use doc_url::doc_url;
pub(crate) use overview::OVERVIEW;
pub(crate) use snippet::snippet_document;
#[cfg(test)]
pub(crate) use snippet::tests::brv_research;
