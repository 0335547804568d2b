//! The text that `ot` and the meta tools show: cards, lists, snippets and example calls.

mod card;
mod doc_url;
mod overview;
mod sample_call;
mod snippet;

pub(crate) use card::{
    AliasCard, Match, MatchGroup, PackCard, ToolCard, ToolDetails, alias_card, name_groups, names, no_match,
    nothing, pack_card, pack_listing, search_results, summary, tool_card,
};
pub(crate) use doc_url::doc_url;
pub(crate) use overview::OVERVIEW;
pub(crate) use sample_call::sample_call;
pub(crate) use snippet::snippet_document;
#[cfg(test)]
pub(crate) use snippet::tests::brv_research;
