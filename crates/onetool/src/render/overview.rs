//! What `ot.help()` says.

/// The way in, for an agent that knows nothing yet.
pub(crate) const OVERVIEW: &str = r#"# onetool

Every tool is called as pack.tool(key=value) in the code of `run`.

## Discovery
- ot.tools(pattern="search"): tools by name
- ot.packs(): packs of tools
- ot.help(query="web fetch"): search, or all about one name
- ot.snippets(), ot.aliases(): shortcuts
- ot.config(), ot.health(), ot.stats(): this server
- ot.result(handle="…"): pages of a large stored result

## Info levels
- info="list": names only
- info="min": names with short descriptions (default)
- info="full": everything

## Examples
- ot.tools(pattern="brave", info="full")
- ot.packs(pattern="web", info="full")
- ot.help(query="brave.web_search")
- ot.help(query="$snippet_name")
- $snippet_name key=value

## Tips
- Ask for the names first, then for the one tool in full.
- Call several tools in one run and return only what you need.
- Typos are fine in ot.help(): the closest names come first."#;
