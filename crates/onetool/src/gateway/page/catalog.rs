//! The catalog as the page shows it: tools, packs, search, what is active, and what can be typed for longer things.

use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;
use onetool_core::{
    BoxFuture, CallContext, Caller, JsonObject, Tool, ToolError, ToolName, ToolOutput, ToolSpec,
};
use onetool_web::{
    ActiveSet, Alias, ApiError, Overview, PackInfo, PromptInfo, SearchAnswer, SearchHit, SearchQuery,
    Shortcuts, SnippetInfo, SnippetParameter, TermMatch, ToolDetail, ToolRow,
};

use crate::gateway::{Inner, suspicion};
use crate::search::{Hit, Match, MatchKind};
use onetool_run::shortcuts;
use onetool_server::catalog::{Catalog, Entry, SessionKey, Source};

/// How many names are suggested where nothing matches.
const SUGGESTIONS: usize = 3;
/// How many tools one search returns at most.
const MAX_HITS: usize = 500;

/// Returns every tool, as operators want it described.
pub(super) fn tools(inner: &Inner) -> Vec<Arc<dyn Tool>> {
    let catalog = inner.server.catalog();
    let described = |entry: &Arc<Entry>| -> Arc<dyn Tool> {
        let description = catalog.description(entry);
        if description == entry.spec().description {
            return entry.tool().clone();
        }
        let spec = ToolSpec { description: description.to_owned(), ..entry.spec().clone() };
        Arc::new(Described { spec, tool: entry.tool().clone() })
    };
    catalog.tools().map(described).collect()
}

/// A tool under the description that its operator has given it.
struct Described {
    spec: ToolSpec,
    tool: Arc<dyn Tool>,
}

impl Tool for Described {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.tool.call(args, cx)
    }
}

pub(super) fn overview(inner: &Inner, caller: Caller) -> Overview {
    let catalog = inner.server.catalog();
    let options = inner.server.options();
    let loaded = inner.server.active().of(&SessionKey::Every(caller));
    Overview {
        name: options.name.clone(),
        version: options.version.clone(),
        tool_count: catalog.tools().count(),
        active_count: loaded.iter().filter(|name| catalog.get_visible(name.as_str()).is_some()).count(),
        history: inner.history.is_on(),
        stats: inner.config().stats.enabled,
        run: catalog.get_visible("run").is_some(),
    }
}

pub(super) fn rows(inner: &Inner, caller: Caller) -> Vec<ToolRow> {
    let catalog = inner.server.catalog();
    let active = inner.server.active().of(&SessionKey::Every(caller));
    catalog.tools().map(|entry| row(&catalog, entry, active.contains(entry.name()))).collect()
}

fn row(catalog: &Catalog, entry: &Entry, active: bool) -> ToolRow {
    ToolRow {
        name: entry.name().to_string(),
        description: catalog.description(entry).to_owned(),
        pack: entry.name().pack().map(str::to_owned),
        source: entry.source().to_string(),
        active,
        annotations: entry.spec().annotations,
    }
}

pub(super) fn detail(inner: &Inner, caller: Caller, name: &str) -> Result<ToolDetail, ApiError> {
    let catalog = inner.server.catalog();
    let entry = find(&catalog, name)?;
    let active = inner.server.active().of(&SessionKey::Every(caller)).contains(entry.name());
    let docs = catalog.docs(entry.name()).cloned().unwrap_or_default();
    let spec = entry.spec();
    let warning = |it: suspicion::Suspicion| format!("It has {}: “{}”.", it.why, it.excerpt);
    Ok(ToolDetail {
        row: row(&catalog, entry, active),
        flat_name: entry.flat_name().to_owned(),
        signature: spec.short_signature(),
        input_schema: JsonObject::clone(&spec.input_schema),
        output_schema: spec.output_schema.as_deref().cloned(),
        examples: docs.examples,
        keywords: docs.keywords,
        warnings: suspicion::of_tool(entry).into_iter().map(warning).collect(),
    })
}

fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Arc<Entry>, ApiError> {
    let found = catalog.visible(name).map_err(|error| ApiError::NotFound(error.to_string()))?;
    if *found.source() == Source::Surface {
        return Err(ApiError::NotFound(format!(
            "'{name}' belongs to every client's list and not to the catalog"
        )));
    }
    Ok(found)
}

/// Ranks as `tool_find` does; what a person types is not remembered as an agent's query is.
pub(super) async fn search(inner: &Inner, query: &SearchQuery) -> SearchAnswer {
    let begun = Instant::now();
    let catalog = inner.server.catalog();
    let words = query.q.trim();
    let hits = inner.finder.search(&catalog, words, query.limit.min(MAX_HITS)).await;
    let is_unknown = hits.is_empty() && catalog.get_visible(words).is_none();
    let suggestions = if is_unknown { catalog.unknown(words).near } else { Vec::new() };
    SearchAnswer {
        hits: hits.iter().map(|hit| found(hit, words)).collect(),
        suggestions: suggestions.into_iter().take(SUGGESTIONS).collect(),
        took_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
    }
}

fn found(hit: &Hit, query: &str) -> SearchHit {
    let mut matched: Vec<TermMatch> = Vec::new();
    // What a verb may mean beside itself says little where the words themselves are there.
    let is_said = |part: &&Match| part.kind != MatchKind::Verb;
    let has_said = hit.explanation.terms.iter().any(|part| is_said(&part));
    for part in hit.explanation.terms.iter().filter(|part| !has_said || is_said(part)) {
        let (term, field) = (as_typed(&part.term, query), part.field.label().to_owned());
        match matched.iter_mut().find(|it| it.term == term) {
            Some(known) if known.fields.contains(&field) => {}
            Some(known) => known.fields.push(field),
            None => matched.push(TermMatch { term, fields: vec![field] }),
        }
    }
    SearchHit { name: hit.name.to_string(), score: (hit.score * 1e3).round() / 1e3, matched }
}

/// Returns the word of the query that a stem comes from, or the stem where none looks like it.
fn as_typed(stem: &str, query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let shared = |word: &str| {
        let lower = word.to_lowercase();
        stem.chars().zip(lower.chars()).take_while(|(left, right)| left == right).count()
    };
    // A stem differs from its word in the last letters only.
    let least = stem.chars().count().saturating_sub(2).max(1);
    let nearest = words.map(|word| (shared(word), word)).max_by_key(|(shared, _)| *shared);
    nearest
        .filter(|(shared, _)| *shared >= least)
        .map_or_else(|| stem.to_owned(), |(_, word)| word.to_lowercase())
}

pub(super) fn packs(inner: &Inner) -> Vec<PackInfo> {
    let (catalog, config) = (inner.server.catalog(), inner.config());
    let mut packs: IndexMap<&str, PackInfo> = IndexMap::new();
    for entry in catalog.tools() {
        let Some(pack) = entry.name().pack() else { continue };
        let new = || {
            let source = entry.source().to_string();
            let instructions = config.docs.packs.get(pack).map(String::as_str);
            PackInfo {
                name: pack.to_owned(),
                source: source.split(':').next().unwrap_or_default().to_owned(),
                tool_count: 0,
                instructions: instructions.or_else(|| catalog.pack_description(pack)).map(str::to_owned),
            }
        };
        packs.entry(pack).or_insert_with(new).tool_count += 1;
    }
    packs.into_values().collect()
}

/// Puts tools on the list of every session of the caller, or takes them off; all of them or none.
pub(super) fn set_active(
    inner: &Inner,
    caller: Caller,
    names: &[String],
    active: bool,
) -> Result<ActiveSet, ApiError> {
    let catalog = inner.server.catalog();
    let key = SessionKey::Every(caller);
    let loaded = inner.server.active().of(&key);
    let mut changed: Vec<ToolName> = Vec::new();
    for name in names {
        match find(&catalog, name) {
            Ok(entry) => changed.push(entry.name().clone()),
            // What has gone from the catalog can still be taken off.
            Err(_) if !active && loaded.contains(name.as_str()) => changed.push(ToolName::new(name.as_str())),
            Err(error) => return Err(error),
        }
    }
    let (load, unload) = if active { (&changed[..], &[][..]) } else { (&[][..], &changed[..]) };
    inner.server.active().change(&key, load, unload);
    let names: Vec<String> = inner.server.active().of(&key).iter().map(ToString::to_string).collect();
    Ok(ActiveSet { count: names.len(), names })
}

pub(super) fn shortcuts(inner: &Inner) -> Shortcuts {
    let catalog = inner.server.catalog();
    let own = shortcuts::Shortcuts::of(&catalog);
    let alias = |(name, alias): (&str, &onetool_run::shortcuts::Alias)| Alias {
        name: name.to_owned(),
        target: alias.tool.to_string(),
    };
    let snippets = own.snippets.iter().map(|snippet| SnippetInfo {
        name: snippet.name.clone(),
        description: snippet.description.clone(),
        parameters: snippet
            .params
            .iter()
            .map(|(name, param)| SnippetParameter {
                name: name.clone(),
                description: param.description.clone(),
                default: param
                    .default
                    .as_ref()
                    .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)),
            })
            .collect(),
        body: snippet.body.clone(),
        example: snippet.example().0,
    });
    let prompts = catalog.prompts().map(|prompt| {
        let spec = prompt.spec();
        PromptInfo {
            name: spec.name.clone(),
            description: spec.description.clone().unwrap_or_default(),
            arguments: spec.arguments.iter().map(|argument| argument.name.clone()).collect(),
        }
    });
    Shortcuts {
        aliases: own.aliases.iter().map(alias).collect(),
        snippets: snippets.collect(),
        prompts: prompts.collect(),
    }
}
