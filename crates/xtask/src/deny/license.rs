//! SPDX expressions, and the lists of allowed licenses in deny.toml.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

/// The licenses that any crate may have, and those that only named crates may have.
pub(super) struct Policy {
    allowed: BTreeSet<String>,
    exceptions: BTreeMap<String, BTreeSet<String>>,
}

impl Policy {
    /// Reads `allow` and `exceptions` of the section `[licenses]`.
    pub(super) fn parse(deny_toml: &str) -> Result<Self> {
        let section = section(deny_toml, "[licenses]").context("missing section [licenses]")?;
        let allowed = strings(list(&section, "allow")?);
        let mut exceptions = BTreeMap::<String, BTreeSet<String>>::new();
        for entry in list(&section, "exceptions").unwrap_or_default().split('{').skip(1) {
            let (_, named) = entry.split_once("crate").context("an exception has no `crate`")?;
            let name = strings(named.lines().next().unwrap_or_default());
            let name = name.into_iter().next().context("an exception's `crate` is not a string")?;
            exceptions.entry(name).or_default().extend(strings(list(entry, "allow")?));
        }
        if allowed.is_empty() {
            bail!("[licenses] allows nothing");
        }
        Ok(Self { allowed, exceptions })
    }

    /// Returns why a crate's license is not allowed.
    pub(super) fn check(&self, name: &str, expression: Option<&str>) -> Result<(), String> {
        let Some(expression) = expression else {
            // A crate with only a license file needs an exception that says what is in the file.
            let is_known = self.exceptions.contains_key(name);
            return if is_known { Ok(()) } else { Err("has no SPDX license".to_owned()) };
        };
        let allowed = |license: &str| {
            self.allowed.contains(license)
                || self.exceptions.get(name).is_some_and(|own| own.contains(license))
        };
        match satisfied(expression, &allowed) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("`{expression}`")),
            Err(error) => Err(format!("`{expression}` is invalid: {error}")),
        }
    }
}

/// Evaluates an SPDX expression: `AND` binds tighter than `OR`, the old `/` means `OR`.
fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let value = either(&mut rest, allowed)?;
    match rest.first() {
        None => Ok(value),
        Some(word) => bail!("unexpected `{word}`"),
    }
}

fn either(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut value = both(rest, allowed)?;
    while take(rest, "OR") {
        value |= both(rest, allowed)?;
    }
    Ok(value)
}

fn both(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut value = single(rest, allowed)?;
    while take(rest, "AND") {
        value &= single(rest, allowed)?;
    }
    Ok(value)
}

fn single(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    if take(rest, "(") {
        let value = either(rest, allowed)?;
        if !take(rest, ")") {
            bail!("unclosed parenthesis");
        }
        return Ok(value);
    }
    let license = identifier(rest)?;
    if take(rest, "WITH") {
        let exception = identifier(rest)?;
        return Ok(allowed(&format!("{license} WITH {exception}")));
    }
    Ok(allowed(license))
}

fn identifier<'a>(rest: &mut &[&'a str]) -> Result<&'a str> {
    match rest.split_first() {
        Some((word, after)) if !["AND", "OR", "WITH", "(", ")"].contains(word) => {
            *rest = after;
            Ok(word)
        }
        Some((word, _)) => bail!("expected a license, found `{word}`"),
        None => bail!("unexpected end"),
    }
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

/// Returns the lines of a section, without comments.
fn section(text: &str, header: &str) -> Option<String> {
    let mut lines = text.lines().map(without_comment);
    lines.find(|line| line.trim() == header)?;
    let inside: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    Some(inside.join("\n"))
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Returns the text between the brackets of `key = [ … ]`, which may contain brackets.
fn list<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    let start = text
        .match_indices(key)
        .find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '-')
                && text[at + key.len()..].trim_start().starts_with('=')
        })
        .map(|(at, _)| at)
        .with_context(|| format!("missing `{key} = […]`"))?;
    let open = start + text[start..].find('[').with_context(|| format!("`{key}` is not a list"))?;
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(&text[open + 1..open + at]);
        }
    }
    bail!("unclosed list `{key}`")
}

/// Returns the strings in double quotes.
fn strings(text: &str) -> BTreeSet<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
[licenses]
version = 2
# MIT and the like: "GPL-3.0" is not here.
allow = [
    "MIT", # "Fake-1.0"
    "Apache-2.0 WITH LLVM-exception",
    "ISC",
]
exceptions = [
    { allow = ["LGPL-3.0-only"], crate = "malachite-base" },
    { allow = ["Python-2.0"], crate = "pylib" },
]

[bans]
allow = ["GPL-3.0"]
"#;

    fn check(name: &str, expression: &str) -> Result<(), String> {
        Policy::parse(DENY).unwrap().check(name, Some(expression))
    }

    #[test]
    fn or_needs_one_and_needs_both() {
        assert_eq!(check("a", "MIT OR GPL-3.0"), Ok(()));
        assert_eq!(check("a", "GPL-3.0/MIT"), Ok(()));
        assert_eq!(check("a", "MIT AND GPL-3.0"), Err("`MIT AND GPL-3.0`".to_owned()));
        assert_eq!(check("a", "GPL-3.0 OR MIT AND ISC"), Ok(()));
        assert_eq!(check("a", "(GPL-3.0 OR MIT) AND ISC"), Ok(()));
        assert!(check("a", "(GPL-3.0 OR MIT) AND Zlib").is_err());
    }

    #[test]
    fn with_is_part_of_the_license() {
        assert_eq!(check("a", "Apache-2.0 WITH LLVM-exception"), Ok(()));
        assert!(check("a", "Apache-2.0").is_err());
        assert!(check("a", "MIT WITH LLVM-exception").is_err());
    }

    #[test]
    fn comments_and_other_sections_allow_nothing() {
        assert!(check("a", "Fake-1.0").is_err());
        assert!(check("a", "GPL-3.0").is_err());
    }

    #[test]
    fn an_exception_applies_only_to_its_crate() {
        assert_eq!(check("malachite-base", "LGPL-3.0-only"), Ok(()));
        assert!(check("malachite-q", "LGPL-3.0-only").is_err());
        assert_eq!(check("pylib", "Python-2.0 AND MIT"), Ok(()));
    }

    #[test]
    fn missing_and_invalid_expressions_are_reported() {
        let policy = Policy::parse(DENY).unwrap();
        assert_eq!(policy.check("a", None), Err("has no SPDX license".to_owned()));
        assert_eq!(check("a", "MIT OR"), Err("`MIT OR` is invalid: unexpected end".to_owned()));
        assert_eq!(check("a", "(MIT"), Err("`(MIT` is invalid: unclosed parenthesis".to_owned()));
        assert_eq!(check("a", "MIT ISC"), Err("`MIT ISC` is invalid: unexpected `ISC`".to_owned()));
    }
}
