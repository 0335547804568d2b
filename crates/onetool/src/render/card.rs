//! Cards: descriptions of tools, packs and aliases, and lists of them, as text for a model to read.

use std::fmt::Write as _;

use onetool_core::{ToolAnnotations, abbreviate, shorten};
use serde_json::Value;

/// Maximum number of tools on the card of a pack, and of bytes of all their entries.
const MAX_PACK_TOOLS: usize = 50;
const MAX_PACK_TOOLS_SIZE: usize = 8000;
/// Maximum length of a tool's description on the card of its pack, and of the pack's instructions, in characters.
const MAX_PACK_DESCRIPTION: usize = 500;
const MAX_PACK_INSTRUCTIONS: usize = 4000;

/// The content of a tool's card.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolCard<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) signature: String,
    /// `name (type): description`, in order.
    pub(crate) args: Vec<String>,
    pub(crate) returns: Option<String>,
    pub(crate) examples: Vec<String>,
    pub(crate) url: Option<String>,
    /// Only on the full card.
    pub(crate) details: Option<ToolDetails>,
}

/// What only the full card of a tool shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolDetails {
    pub(crate) source: String,
    pub(crate) flat_name: String,
    pub(crate) annotations: Option<ToolAnnotations>,
    pub(crate) keywords: Vec<String>,
    pub(crate) category: Option<String>,
    pub(crate) input_schema: Value,
}

/// The content of a pack's card.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackCard<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: String,
    pub(crate) instructions: Option<&'a str>,
    /// Names and descriptions.
    pub(crate) tools: Vec<(&'a str, String)>,
    pub(crate) url: Option<String>,
}

/// The content of an alias's card.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AliasCard<'a> {
    pub(crate) name: &'a str,
    pub(crate) target: &'a str,
    /// The tool at the end of the chain.
    pub(crate) tool: &'a str,
    pub(crate) usage: String,
}

/// The matches of one kind, best first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchGroup {
    pub(crate) title: &'static str,
    pub(crate) matches: Vec<Match>,
}

/// One match of a search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Match {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The full card, if requested.
    pub(crate) card: Option<String>,
}

pub(crate) fn tool_card(card: &ToolCard<'_>) -> String {
    let mut text = format!("# {}\n\n{}\n", card.name, card.description.trim());
    section(&mut text, "Signature", [&card.signature]);
    section(&mut text, "Args", card.args.iter().map(|arg| format!("- {arg}")));
    section(&mut text, "Returns", [card.returns.as_deref().unwrap_or("Any")]);
    section(&mut text, "Example", &card.examples);
    section(&mut text, "Docs", &card.url);
    if let Some(details) = &card.details {
        section(&mut text, "More", detail_lines(details));
    }
    text.trim_end().to_owned()
}

fn detail_lines(details: &ToolDetails) -> Vec<String> {
    let mut lines =
        vec![format!("- source: {}", details.source), format!("- flat name: {}", details.flat_name)];
    let hints = details.annotations.and_then(|hints| serde_json::to_value(hints).ok());
    for (hint, value) in hints.iter().filter_map(Value::as_object).flatten() {
        lines.push(format!("- {hint}: {value}"));
    }
    if !details.keywords.is_empty() {
        lines.push(format!("- keywords: {}", details.keywords.join(", ")));
    }
    lines.extend(details.category.iter().map(|category| format!("- category: {category}")));
    lines.push(format!("- input schema: {}", details.input_schema));
    lines
}

/// Writes a pack with as many of its tools as the limits allow.
pub(crate) fn pack_card(card: &PackCard<'_>) -> String {
    let mut text = pack_heading(card, MAX_PACK_INSTRUCTIONS);
    let mut left = MAX_PACK_TOOLS_SIZE;
    let lines: Vec<String> = card
        .tools
        .iter()
        .take(MAX_PACK_TOOLS)
        .map(|(name, description)| entry(name, &shorten(description, MAX_PACK_DESCRIPTION)))
        .take_while(|line| left.checked_sub(line.len()).map(|rest| left = rest).is_some())
        .collect();
    let hidden = card.tools.len() - lines.len();
    let list = format!("ot.tools(pattern=\"{}.\", info=\"list\")", card.name);
    let more = (hidden > 0).then(|| format!("- … and {hidden} more: {list} lists them all"));
    section(&mut text, &pack_title(card), lines.into_iter().chain(more));
    section(&mut text, "Docs", &card.url);
    text.trim_end().to_owned()
}

/// Writes a pack with all its tools, as `ot.packs` lists it.
pub(crate) fn pack_listing(card: &PackCard<'_>) -> String {
    let mut text = pack_heading(card, usize::MAX);
    let lines = card.tools.iter().map(|(name, description)| entry(name, description));
    section(&mut text, &pack_title(card), lines);
    text.trim_end().to_owned()
}

fn pack_heading(card: &PackCard<'_>, max_instructions: usize) -> String {
    let instructions = card.instructions.map(|it| format!("\n{}\n", shorten(it.trim(), max_instructions)));
    format!("# {}\n{}", card.name, instructions.unwrap_or_default())
}

fn pack_title(card: &PackCard<'_>) -> String {
    format!("Tools ({}, {})", card.tools.len(), card.source)
}

pub(crate) fn alias_card(card: &AliasCard<'_>) -> String {
    let end = if card.tool == card.target { String::new() } else { format!(" -> {}", card.tool) };
    format!(
        "# {}\n\nAlias: {} -> {}{end}\n\nCall it like the tool: {}\nDetails: ot.help(query=\"{}\")",
        card.name, card.name, card.target, card.usage, card.tool
    )
}

/// Writes the matches of a search, grouped by kind.
pub(crate) fn search_results(query: &str, groups: &[MatchGroup], with_descriptions: bool) -> String {
    let heading = format!("Matches for '{query}', best first:\n");
    if !with_descriptions {
        return heading + &name_groups(groups);
    }
    let write = |found: &Match| match &found.card {
        Some(card) => format!("\n{card}\n"),
        None => entry(&found.name, &found.description) + "\n",
    };
    heading + &grouped(groups, write)
}

/// Writes the names of the matches, grouped by kind.
pub(crate) fn name_groups(groups: &[MatchGroup]) -> String {
    grouped(groups, |found| format!("- {}\n", found.name))
}

fn grouped(groups: &[MatchGroup], write: impl Fn(&Match) -> String) -> String {
    let mut text = String::new();
    for group in groups.iter().filter(|group| !group.matches.is_empty()) {
        // Writing to a String cannot fail.
        let _ =
            write!(text, "\n## {}\n{}", group.title, group.matches.iter().map(&write).collect::<String>());
    }
    text.trim_end().to_owned()
}

/// Returns the message for a search without matches.
pub(crate) fn no_match(query: &str) -> String {
    format!("No matches for '{query}'. ot.tools() lists all tools, ot.packs() lists all packs.")
}

/// Returns the message for an empty list.
pub(crate) fn nothing(kind: &str, pattern: &str) -> String {
    match abbreviate(pattern) {
        pattern if pattern.is_empty() => format!("No {kind} configured"),
        pattern => format!("No {kind} match '{pattern}'"),
    }
}

/// Writes one line per item: name, separator, first paragraph of the text.
pub(crate) fn names<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>, separator: &str) -> String {
    let lines = lines.into_iter().map(|(name, text)| {
        let text = summary(text);
        if text.is_empty() { name.to_owned() } else { format!("{name}{separator}{text}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first paragraph of a description, on one line.
pub(crate) fn summary(description: &str) -> String {
    let lines = description.trim().lines().take_while(|line| !line.trim().is_empty());
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn entry(name: &str, description: &str) -> String {
    if description.is_empty() { format!("- {name}") } else { format!("- {name}: {description}") }
}

fn section<T: AsRef<str>>(text: &mut String, title: &str, lines: impl IntoIterator<Item = T>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = write!(text, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(text, "{}", line.as_ref());
    }
}
