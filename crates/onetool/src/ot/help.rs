//! `ot.help`: explains and finds tools, packs, snippets and aliases.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::Deserialize;

use super::help_rank::{Candidate, rank, words};
use super::{InfoLevel, OtContext, Output, listing};
use crate::render::{self, AliasCard, Match, MatchGroup};
use onetool_run::shortcuts::Alias;
use onetool_server::catalog::{Catalog, Entry};

pub(super) const DESCRIPTION: &str =
    "Explain onetool, or a tool, pack, $snippet or alias by name; other queries search and tolerate typos.";

/// Maximum number of matches of each kind with descriptions, and with cards.
const MAX_MATCHES: usize = 10;
const MAX_CARDS: usize = 3;
/// Maximum number of tools in a list of names.
const MAX_NAMES: usize = 1000;
/// Maximum length of a query in characters; the rest is ignored.
const MAX_QUERY: usize = 500;
/// The minimum score of a tool relative to the best one; tools below it share only a word with the query.
const MIN_RELATIVE_SCORE: f64 = 0.5;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Help {
    /// A name, or words to search for; empty for an overview.
    #[serde(default)]
    query: String,
    /// Level of detail: list (names), min (short descriptions) or full (everything).
    #[serde(default)]
    info: InfoLevel,
}

#[tracing::instrument(level = "debug", name = "ot.help", skip_all)]
pub(super) async fn help(context: &OtContext, args: &Help) -> Output {
    let query = args.query.trim();
    if query.is_empty() {
        return Output::Text(render::OVERVIEW.to_owned());
    }
    let query = query.char_indices().nth(MAX_QUERY).map_or(query, |(end, _)| &query[..end]);
    Output::Text(match (exact(context, query), args.info) {
        (Some(found), InfoLevel::List) => {
            let name = found.name(context);
            let others = search(context, query, InfoLevel::List).await.without(&name);
            others.list_after(&name)
        }
        (Some(found), info) => found.card(context, info),
        (None, info) => search(context, query, info).await.text(query, info),
    })
}

/// A named item that help can explain.
#[derive(Debug, Clone, Copy)]
enum Topic<'a> {
    Tool(&'a str),
    Pack(&'a str),
    Snippet(&'a str),
    Alias(&'a str),
}

/// Returns the item with exactly this name.
fn exact<'a>(context: &'a OtContext, name: &'a str) -> Option<Topic<'a>> {
    if let Some(snippet) = name.strip_prefix('$') {
        return context.snippets.get(snippet).map(|_| Topic::Snippet(snippet));
    }
    if context.catalog.get_visible(name).is_some() {
        return Some(Topic::Tool(name));
    }
    let is_pack = listing::packs(&context.catalog).contains_key(name);
    let is_alias = context.aliases.get(name).is_some();
    let is_snippet = context.snippets.get(name).is_some();
    [(is_pack, Topic::Pack(name)), (is_alias, Topic::Alias(name)), (is_snippet, Topic::Snippet(name))]
        .into_iter()
        .find_map(|(exists, topic)| exists.then_some(topic))
}

impl Topic<'_> {
    /// Returns the name to query it by.
    fn name(self, context: &OtContext) -> String {
        match self {
            Self::Tool(name) => context
                .catalog
                .get_visible(name)
                .map_or_else(|| name.to_owned(), |entry| entry.name().to_string()),
            Self::Snippet(name) => format!("${name}"),
            Self::Pack(name) | Self::Alias(name) => name.to_owned(),
        }
    }

    /// Returns its card.
    fn card(self, context: &OtContext, info: InfoLevel) -> String {
        let card = match self {
            Self::Tool(name) => context
                .catalog
                .get_visible(name)
                .map(|entry| render::tool_card(&listing::tool_card(context, entry, info))),
            Self::Pack(name) => listing::packs(&context.catalog)
                .get(name)
                .map(|tools| render::pack_card(&listing::pack_card(context, name, tools, info))),
            Self::Snippet(name) => context.snippets.get(name).map(render::snippet_document),
            Self::Alias(name) => context.aliases.get(name).map(|alias| alias_card(context, name, alias)),
        };
        card.unwrap_or_default()
    }
}

fn alias_card(context: &OtContext, name: &str, alias: &Alias) -> String {
    let tool = alias.tool.as_str();
    let usage = match context.catalog.get_visible(tool) {
        Some(entry) => render::sample_call(name, &entry.spec().input_schema),
        None => format!("{name}(...)"),
    };
    render::alias_card(&AliasCard { name, target: &alias.target, tool, usage })
}

/// The matches of a search, by kind.
struct Found([MatchGroup; 4]);

impl Found {
    fn text(&self, query: &str, info: InfoLevel) -> String {
        if self.is_empty() {
            return render::no_match(query);
        }
        render::search_results(query, &self.0, info != InfoLevel::List)
    }

    /// Removes an item that is shown elsewhere.
    fn without(mut self, name: &str) -> Self {
        self.0.iter_mut().for_each(|group| group.matches.retain(|it| it.name != name));
        self
    }

    /// Returns the names of all items, after that of an exact match.
    fn list_after(&self, name: &str) -> String {
        if self.is_empty() { name.to_owned() } else { format!("{name}\n{}", render::name_groups(&self.0)) }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|group| group.matches.is_empty())
    }
}

async fn search(context: &OtContext, query: &str, info: InfoLevel) -> Found {
    let catalog = &context.catalog;
    let packs = listing::packs(catalog);
    let pack_texts: Vec<String> = packs
        .iter()
        .map(|(name, tools)| match context.config.docs.packs.get(*name) {
            Some(instructions) => render::summary(instructions),
            None if tools.len() == 1 => "1 tool".to_owned(),
            None => format!("{} tools", tools.len()),
        })
        .collect();
    let tools: Vec<(&str, &str)> =
        listing::tools(catalog).map(|it| (it.name().as_str(), catalog.description(it))).collect();
    let packs: Vec<(&str, &str)> =
        packs.keys().zip(&pack_texts).map(|(name, text)| (*name, text.as_str())).collect();
    let snippets: Vec<(&str, &str)> =
        context.snippets.iter().map(|it| (it.name.as_str(), it.description.as_str())).collect();
    let aliases: Vec<(&str, &str)> =
        context.aliases.iter().map(|(name, alias)| (name, alias.target.as_str())).collect();
    let found_tools = rank_tools(context, query, &tools, info).await;
    Found([
        group(context, info, "Tools", &tools, found_tools, Topic::Tool),
        group(context, info, "Packs", &packs, rank_items(query, &packs), Topic::Pack),
        group(context, info, "Snippets", &snippets, rank_items(query, &snippets), Topic::Snippet),
        group(context, info, "Aliases", &aliases, rank_items(query, &aliases), Topic::Alias),
    ])
}

/// Returns the indices of matching tools: those that `tool_find` would return, then those with similar names, such as
/// words written together or misspelled beyond what the search corrects.
async fn rank_tools(context: &OtContext, query: &str, tools: &[(&str, &str)], info: InfoLevel) -> Vec<usize> {
    let is_list = info == InfoLevel::List;
    let limit = if is_list { MAX_NAMES } else { MAX_MATCHES };
    let hits = context.finder.search(&context.catalog, query, limit).await;
    let best = hits.first().map_or(0.0, |hit| hit.score);
    // A single word matches or does not. With several, a tool that matches only some is probably not the right one.
    let min_score = if is_list && words(query).len() == 1 { 0.0 } else { best * MIN_RELATIVE_SCORE };
    let indices: HashMap<&str, usize> = tools.iter().map(|(name, _)| *name).zip(0..).collect();
    let close = hits.iter().take_while(|hit| hit.score >= min_score);
    let found = close.filter_map(|hit| indices.get(&*hit.name).copied());
    let by_name = rank_names(context.catalog.clone(), query.to_owned()).await;
    found.chain(by_name).collect::<IndexSet<usize>>().into_iter().collect()
}

/// Returns the indices of tools with matching names; descriptions are left to the search. Runs on a blocking thread,
/// because many thousands of tools take a while.
async fn rank_names(catalog: Arc<Catalog>, query: String) -> Vec<usize> {
    let ranked = tokio::task::spawn_blocking(move || {
        let name = |entry| Candidate { name: Entry::name(entry).as_str(), description: "" };
        rank(&query, listing::tools(&catalog).map(name))
    });
    ranked.await.unwrap_or_default()
}

fn rank_items(query: &str, items: &[(&str, &str)]) -> Vec<usize> {
    rank(query, items.iter().map(|(name, description)| Candidate { name, description }))
}

fn group<'a>(
    context: &OtContext,
    info: InfoLevel,
    title: &'static str,
    items: &[(&'a str, &'a str)],
    found: Vec<usize>,
    topic: fn(&'a str) -> Topic<'a>,
) -> MatchGroup {
    let is_full = info == InfoLevel::Full;
    let shown = match info {
        InfoLevel::List => usize::MAX,
        InfoLevel::Min => MAX_MATCHES,
        InfoLevel::Full => MAX_CARDS,
    };
    let found = found.into_iter().take(shown);
    let matches = found.map(|index| {
        let (name, description) = items[index];
        Match {
            name: topic(name).name(context),
            description: render::summary(description),
            card: is_full.then(|| topic(name).card(context, info)),
        }
    });
    MatchGroup { title, matches: matches.collect() }
}
