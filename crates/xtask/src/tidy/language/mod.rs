//! Rules about wording: phrases that read as if translated, each with the ordinary words for it (STYLE.md).

mod code;
mod prose;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::finding::Finding;
use crate::sources::File;
use prose::{Markup, Word};

/// What is checked: files, and directories, which end in `/`. In each, Markdown, Rust, and the page's scripts and styles.
const CHECKED: [&str; 9] = [
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "STYLE.md",
    CHANGELOG,
    "docs/",
    "crates/",
    "fuzz/",
];

/// What is not checked: requirements quote the specification, one file is vendored, one has the phrases to test with.
const NOT_CHECKED: [&str; 3] = [
    "docs/requirements/",
    "crates/onetool-web/assets/preact-htm.js",
    "crates/xtask/src/tidy/language/tests.rs",
];

const CHANGELOG: &str = "CHANGELOG.md";

/// A phrase to avoid.
struct Phrase {
    /// Lowercase, one space between words.
    words: &'static str,
    /// The phrase is fine after one of these words.
    not_after: Vec<&'static str>,
    /// The phrase is fine before one of these words.
    not_before: Vec<&'static str>,
    advice: &'static str,
}

impl Phrase {
    /// Parses `PHRASE [not after: …] [not before: …] = ADVICE`.
    fn parse(line: &'static str) -> Option<Self> {
        let (phrase, advice) = line.split_once(" = ")?;
        let mut parts = phrase.split(" [");
        let words = parts.next()?;
        let (mut not_after, mut not_before) = (Vec::new(), Vec::new());
        for part in parts {
            let (when, list) = part.strip_suffix(']')?.split_once(": ")?;
            match when {
                "not after" => not_after.extend(list.split(", ")),
                "not before" => not_before.extend(list.split(", ")),
                _ => return None,
            }
        }
        Some(Self { words, not_after, not_before, advice })
    }

    fn matches(&self, words: &[Word], at: usize) -> bool {
        let mut next = at;
        for wanted in self.words.split(' ') {
            if words.get(next).is_none_or(|word| word.text != wanted) {
                return false;
            }
            next += 1;
        }
        let is_one_of =
            |word: Option<&Word>, list: &[&str]| word.is_some_and(|word| list.contains(&word.text.as_str()));
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        !is_one_of(before, &self.not_after) && !is_one_of(words.get(next), &self.not_before)
    }
}

/// The lines of phrases.txt that are not comments.
fn phrase_lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("phrases.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The phrases by their first word.
static PHRASES: LazyLock<HashMap<&str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut phrases: HashMap<&str, Vec<Phrase>> = HashMap::new();
    for phrase in phrase_lines().filter_map(Phrase::parse) {
        phrases.entry(phrase.words.split(' ').next().unwrap_or_default()).or_default().push(phrase);
    }
    phrases
});

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter(|file| is_checked(file)).flat_map(check_file).collect()
}

fn is_checked(file: &File) -> bool {
    let is_code = file.has_extension("rs")
        || file.path.starts_with("crates/onetool-web/")
            && (file.has_extension("js") || file.has_extension("css"));
    (is_code || file.has_extension("md") && !file.path.starts_with("crates/"))
        && CHECKED.iter().any(|rule| covers(rule, &file.path))
        && !NOT_CHECKED.iter().any(|rule| covers(rule, &file.path))
}

fn covers(rule: &str, path: &str) -> bool {
    if rule.ends_with('/') { path.starts_with(rule) } else { path == rule }
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.has_extension("md") {
        let text = if file.path == CHANGELOG { unreleased(&file.text) } else { file.text.clone() };
        find(&prose::words(&text, 1, Markup::Markdown), file, &mut findings);
        return findings;
    }
    let pieces = match file.path.rsplit_once('.') {
        Some((_, "js")) => code::javascript(&file.text),
        Some((_, "css")) => code::css(&file.text),
        _ => code::rust(&file.text),
    };
    for piece in pieces {
        let markup = if piece.is_comment { Markup::Markdown } else { Markup::Literal };
        find(&prose::words(&piece.text, piece.line, markup), file, &mut findings);
    }
    findings
}

fn find(words: &[Word], file: &File, findings: &mut Vec<Finding>) {
    for (at, word) in words.iter().enumerate() {
        let phrases = PHRASES.get(word.text.as_str()).into_iter().flatten();
        for phrase in phrases.filter(|phrase| phrase.matches(words, at)) {
            let message = format!(
                "'{}' reads as if translated: write {} (STYLE.md)",
                phrase.words.trim_end_matches(" ."),
                phrase.advice
            );
            findings.push(Finding::new(&file.path, word.line, message));
        }
    }
}

/// Returns the changelog with everything but the unreleased changes blanked: what is released stays.
fn unreleased(changelog: &str) -> String {
    let mut is_inside = false;
    let lines = changelog.lines().map(|line| {
        if line.starts_with("## ") {
            is_inside = line.contains("[Unreleased]");
        }
        if is_inside { line } else { "" }
    });
    lines.collect::<Vec<_>>().join("\n")
}
