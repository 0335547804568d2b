//! The text of `ot.help()`.

/// An introduction for an agent that has not used the gateway before.
pub(crate) const OVERVIEW: &str = r#"# onetool

Every tool is called as pack.tool(key=value) in the code of `run`.

## Discovery
- ot.tools(pattern="search"): find tools by name
- ot.packs(): list the packs of tools
- ot.help(query="web fetch"): search, or show the help for a name
- ot.snippets(), ot.aliases(): shortcuts
- ot.config(), ot.health(), ot.stats(): about this server
- ot.result(handle="…"): read a large stored result page by page

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
- List names first, then get the full help for one tool.
- Call several tools in one run, and return only what you need.
- Typos are fine in ot.help(): the closest names come first."#;
