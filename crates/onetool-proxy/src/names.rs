//! The names and URIs under which an upstream's tools, resources and prompts are served.

use std::collections::HashSet;

use onetool_core::ToolName;

/// Assigns a unique canonical name to every tool of an upstream.
pub(crate) struct ToolNames<'a> {
    pack: &'a str,
    upstream_names: HashSet<String>,
    assigned: HashSet<ToolName>,
}

impl<'a> ToolNames<'a> {
    pub(crate) fn new(pack: &'a str) -> Self {
        Self { pack, upstream_names: HashSet::new(), assigned: HashSet::new() }
    }

    /// Returns the canonical name of the tool that the upstream calls `upstream_name`, or why it cannot have one.
    pub(crate) fn assign(&mut self, upstream_name: &str) -> Result<ToolName, String> {
        if !self.upstream_names.insert(upstream_name.to_owned()) {
            return Err("duplicate name".to_owned());
        }
        // Characters that a caller cannot type become underscores. The upstream still receives its own name.
        let is_untypable = |c: char| c.is_whitespace() || c.is_control();
        let clean: String = upstream_name.chars().map(|c| if is_untypable(c) { '_' } else { c }).collect();
        let mut name = ToolName::in_pack(self.pack, &clean);
        let mut number = 2;
        while self.assigned.contains(&name) {
            name = ToolName::in_pack(self.pack, &format!("{clean}_{number}"));
            number += 1;
        }
        name.check().map_err(|error| error.to_string())?;
        self.assigned.insert(name.clone());
        Ok(name)
    }
}

/// Returns the name of a prompt. Clients show it as a command, and accept letters, digits, `_` and `-`.
pub(crate) fn prompt_name(pack: &str, upstream_name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    format!("{pack}_{upstream_name}").chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns the URI under which a pack's resource is served: `onetool://server/{pack}/{uri}`.
///
/// The upstream's own URI is appended unchanged, so URIs of two upstreams never collide, and a template stays a
/// template. [`upstream_uri`] is the inverse.
///
/// ```
/// use onetool_proxy::{upstream_uri, wrapped_uri};
///
/// let wrapped = wrapped_uri("files", "file:///tmp/a?b#c");
/// assert_eq!(wrapped, "onetool://server/files/file:///tmp/a?b#c");
/// assert_eq!(upstream_uri("files", &wrapped), Some("file:///tmp/a?b#c"));
/// assert_eq!(upstream_uri("other", &wrapped), None);
/// ```
pub fn wrapped_uri(pack: &str, uri: &str) -> String {
    format!("onetool://server/{pack}/{uri}")
}

/// Returns the upstream's own URI from one that [`wrapped_uri`] returned for the same pack.
pub fn upstream_uri<'a>(pack: &str, uri: &'a str) -> Option<&'a str> {
    uri.strip_prefix("onetool://server/")?.strip_prefix(pack)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n4_odd_names_stay_callable_and_unique() {
        let mut names = ToolNames::new("p");
        let cases = [
            ("get-issue", Ok("p.get-issue")),
            ("a/b.c", Ok("p.a/b.c")),
            ("two words", Ok("p.two_words")),
            ("two_words", Ok("p.two_words_2")),
            ("get-issue", Err("duplicate name")),
            ("", Err("tool name 'p.' is empty or has an empty part")),
            ("名前", Ok("p.名前")),
        ];
        for (upstream_name, expected) in cases {
            let assigned = names.assign(upstream_name).map(|name| name.as_str().to_owned());
            assert_eq!(assigned.as_deref().map_err(String::as_str), expected, "{upstream_name:?}");
        }
        assert_eq!(prompt_name("git-hub", "code review!"), "git-hub_code_review_");
    }
}
