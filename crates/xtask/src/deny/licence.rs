//! SPDX expressions, and the lists in deny.toml that say which are allowed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

/// The licences that any crate, and those that a named crate may have.
pub(super) struct Policy {
    allowed: BTreeSet<String>,
    exceptions: BTreeMap<String, BTreeSet<String>>,
}

impl Policy {
    /// Reads `allow` and `exceptions` of the section `[licenses]`.
    pub(super) fn parse(deny_toml: &str) -> Result<Self> {
        let section = section(deny_toml, "[licenses]").context("there is no section [licenses]")?;
        let allowed = strings(list(&section, "allow")?);
        let mut exceptions = BTreeMap::<String, BTreeSet<String>>::new();
        for entry in list(&section, "exceptions").unwrap_or_default().split('{').skip(1) {
            let (_, named) = entry.split_once("crate").context("an exception names no `crate`")?;
            let name = strings(named.lines().next().unwrap_or_default());
            let name = name.into_iter().next().context("an exception's `crate` is no string")?;
            exceptions.entry(name).or_default().extend(strings(list(entry, "allow")?));
        }
        if allowed.is_empty() {
            bail!("[licenses] allows nothing");
        }
        Ok(Self { allowed, exceptions })
    }

    /// Tells why a crate's licence is not allowed.
    pub(super) fn check(&self, name: &str, expression: Option<&str>) -> Result<(), String> {
        let Some(expression) = expression else {
            // A crate with nothing but a licence file needs an exception that says what is in it.
            let is_known = self.exceptions.contains_key(name);
            return if is_known { Ok(()) } else { Err("names no SPDX licence".to_owned()) };
        };
        let allowed = |licence: &str| {
            self.allowed.contains(licence)
                || self.exceptions.get(name).is_some_and(|own| own.contains(licence))
        };
        match satisfied(expression, &allowed) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("`{expression}`")),
            Err(error) => Err(format!("`{expression}` cannot be read: {error}")),
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
        Some(word) => bail!("`{word}` is out of place"),
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
            bail!("a bracket is not closed");
        }
        return Ok(value);
    }
    let licence = identifier(rest)?;
    if take(rest, "WITH") {
        let exception = identifier(rest)?;
        return Ok(allowed(&format!("{licence} WITH {exception}")));
    }
    Ok(allowed(licence))
}

fn identifier<'a>(rest: &mut &[&'a str]) -> Result<&'a str> {
    match rest.split_first() {
        Some((word, after)) if !["AND", "OR", "WITH", "(", ")"].contains(word) => {
            *rest = after;
            Ok(word)
        }
        Some((word, _)) => bail!("`{word}` stands where a licence should"),
        None => bail!("it ends too early"),
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

/// Returns the lines of one section without comments.
fn section(text: &str, header: &str) -> Option<String> {
    let mut lines = text.lines().map(without_comment);
    lines.find(|line| line.trim() == header)?;
    let inside: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    Some(inside.join("\n"))
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Returns the text between the brackets of `key = [ … ]`, brackets inside it included.
fn list<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    let start = text
        .match_indices(key)
        .find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            !before.is_some_and(|character| character.is_alphanumeric() || character == '-')
                && text[at + key.len()..].trim_start().starts_with('=')
        })
        .map(|(at, _)| at)
        .with_context(|| format!("there is no `{key} = […]`"))?;
    let open = start + text[start..].find('[').with_context(|| format!("`{key}` is no list"))?;
    let mut depth = 0;
    for (at, character) in text[open..].char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(&text[open + 1..open + at]);
        }
    }
    bail!("the list `{key}` is not closed")
}

/// Returns what stands in double quotes.
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
    fn with_is_part_of_the_licence() {
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
    fn an_exception_holds_for_its_crate_alone() {
        assert_eq!(check("malachite-base", "LGPL-3.0-only"), Ok(()));
        assert!(check("malachite-q", "LGPL-3.0-only").is_err());
        assert_eq!(check("pylib", "Python-2.0 AND MIT"), Ok(()));
    }

    #[test]
    fn a_missing_or_broken_expression_is_said() {
        let policy = Policy::parse(DENY).unwrap();
        assert_eq!(policy.check("a", None), Err("names no SPDX licence".to_owned()));
        assert_eq!(check("a", "MIT OR"), Err("`MIT OR` cannot be read: it ends too early".to_owned()));
        assert_eq!(check("a", "(MIT"), Err("`(MIT` cannot be read: a bracket is not closed".to_owned()));
        assert_eq!(check("a", "MIT ISC"), Err("`MIT ISC` cannot be read: `ISC` is out of place".to_owned()));
    }
}
