//! Names inside a pack: what an upstream calls its things, made fit to be called by.

use std::collections::HashSet;

use onetool_core::ToolName;

/// Gives every tool of an upstream a canonical name of its own.
pub(crate) struct ToolNames<'a> {
    pack: &'a str,
    own: HashSet<String>,
    given: HashSet<ToolName>,
}

impl<'a> ToolNames<'a> {
    pub(crate) fn new(pack: &'a str) -> Self {
        Self { pack, own: HashSet::new(), given: HashSet::new() }
    }

    /// Returns the canonical name of a tool that the upstream calls `own`, or why it cannot have one.
    pub(crate) fn give(&mut self, own: &str) -> Result<ToolName, String> {
        if !self.own.insert(own.to_owned()) {
            return Err("the name is taken by an earlier one".to_owned());
        }
        // What no caller could type becomes an underscore; the upstream still gets its own name.
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        let clean: String = own.chars().map(|c| if is_odd(c) { '_' } else { c }).collect();
        let mut name = ToolName::in_pack(self.pack, &clean);
        let mut number = 2;
        while self.given.contains(&name) {
            name = ToolName::in_pack(self.pack, &format!("{clean}_{number}"));
            number += 1;
        }
        name.check().map_err(|error| error.to_string())?;
        self.given.insert(name.clone());
        Ok(name)
    }
}

/// Makes the name of a prompt: clients show it as a command, and take letters, digits, `_` and `-`.
pub(crate) fn prompt_name(pack: &str, own: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    format!("{pack}_{own}").chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n4_odd_names_stay_callable_and_apart() {
        let mut names = ToolNames::new("p");
        let cases = [
            ("get-issue", Ok("p.get-issue")),
            ("a/b.c", Ok("p.a/b.c")),
            ("two words", Ok("p.two_words")),
            ("two_words", Ok("p.two_words_2")),
            ("get-issue", Err("the name is taken by an earlier one")),
            ("", Err("tool name 'p.' is empty or has an empty part")),
            ("名前", Ok("p.名前")),
        ];
        for (own, expected) in cases {
            let given = names.give(own).map(|name| name.as_str().to_owned());
            assert_eq!(given.as_deref().map_err(String::as_str), expected, "{own:?}");
        }
        assert_eq!(prompt_name("git-hub", "code review!"), "git-hub_code_review_");
    }
}
