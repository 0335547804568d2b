//! Rules about prose: phrases that read as if translated, each with the ordinary word for it (STYLE.md).

use super::{File, Finding};

/// What is checked: single files, and directories, which end in `/`. Only Markdown for now.
const CHECKED: [&str; 6] =
    ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "STYLE.md", "docs/"];

/// What is not: requirements are quoted from the specification, and generated pages are checked at their source.
const NOT_CHECKED: [&str; 3] = ["docs/requirements/", "docs/cli.md", "docs/python.md"];

/// A phrase to avoid.
struct Phrase {
    /// Lowercase words, one space between them.
    words: &'static str,
    /// The phrase is fine after one of these words.
    not_after: &'static [&'static str],
    /// The phrase is fine before one of these words.
    not_before: &'static [&'static str],
    instead: &'static str,
}

const fn phrase(words: &'static str, instead: &'static str) -> Phrase {
    Phrase { words, not_after: &[], not_before: &[], instead }
}

const PHRASES: &[Phrase] = &[
    Phrase {
        words: "is no",
        not_after: &["there"],
        not_before: &["longer", "one"],
        instead: "'is not a', or 'invalid'",
    },
    Phrase {
        words: "are no",
        not_after: &["there"],
        not_before: &["longer"],
        instead: "'are not', or 'invalid'",
    },
    phrase("stands", "'is', 'appears', 'matches' or 'means'"),
    phrase("stand", "'are', 'appear', 'match' or 'mean'"),
    phrase("lies", "'is' or 'is stored'"),
    phrase("lie", "'are' or 'are stored'"),
    phrase("anew", "'again', or 'reload', 'rebuild', 'restart'"),
    phrase("mend", "'fix'"),
    phrase("mends", "'fixes'"),
    phrase("so many", "'maximum' or 'limit'"),
    phrase("by itself", "'automatically'"),
    phrase("by themselves", "'automatically'"),
    phrase("of its own", "'its own', 'separate' or 'dedicated' before the noun"),
    phrase("of their own", "'their own', 'separate' or 'dedicated' before the noun"),
    phrase("of your own", "'your own' before the noun"),
    phrase("tells", "'says', 'reports', 'checks' or 'notifies'"),
    phrase("told", "'notified' or 'reported'"),
    Phrase { words: "fits", not_after: &[], not_before: &["in", "on", "into"], instead: "'matches'" },
    Phrase { words: "fit", not_after: &[], not_before: &["in", "on", "into"], instead: "'match'" },
    phrase("in a circle", "'cycle'"),
    phrase("in circles", "'cycle' or 'loop'"),
    phrase("is content", "'accepts' or 'passes'"),
    phrase("under way", "'in-flight' or 'running'"),
    phrase("underway", "'in-flight' or 'running'"),
    phrase("all the same", "'anyway' or 'still'"),
    phrase("at once", "'immediately', 'at the same time' or 'concurrent'"),
    phrase("what is left out", "'what is skipped'"),
    phrase("left out", "'skipped' or 'omitted'"),
    phrase("what there is", "what it is: 'the tools', 'the list'"),
    phrase("as they are", "'unchanged'"),
    phrase("as it is", "'unchanged'"),
    phrase("gives back", "'returns'"),
    phrase("give back", "'return'"),
    phrase("gives way", "'yields', or say who wins"),
    phrase("give way", "'yield', or say who wins"),
    phrase("tries again", "'retries'"),
    phrase("tried again", "'retried'"),
    phrase("try again", "'retry'"),
    phrase("bad news", "'error'"),
    phrase("in force", "'active' or 'current'"),
    phrase("exclude each other", "'use either … or …'"),
    phrase("if missing", "'default'"),
    phrase("not said", "'not set'"),
    phrase("all of a sudden", "'unexpectedly'"),
    phrase("beside", "'next to', 'along with' or 'compared with'"),
    phrase("altogether", "'completely'"),
    phrase("surroundings", "'environment'"),
    phrase("somebody", "'someone', or who it is"),
    phrase("licence", "'license'"),
    phrase("licences", "'licenses'"),
    phrase("behaviour", "'behavior'"),
    phrase("colour", "'color'"),
    phrase("whilst", "'while'"),
];

/// One word of prose with its line; anything that separates words in a sentence is a word that matches nothing.
struct Word {
    text: String,
    line: usize,
}

pub(super) fn is_checked(path: &str) -> bool {
    let covers =
        |rule: &&'static str| if rule.ends_with('/') { path.starts_with(*rule) } else { path == *rule };
    super::has_extension(path, "md") && CHECKED.iter().any(covers) && !NOT_CHECKED.iter().any(covers)
}

pub(super) fn check(file: &File, findings: &mut Vec<Finding>) {
    let words = prose(&file.text);
    for at in 0..words.len() {
        for phrase in PHRASES {
            if matches(&words, at, phrase) {
                let message =
                    format!("'{}' reads as if translated: write {} (STYLE.md)", phrase.words, phrase.instead);
                findings.push(Finding::new(&file.path, words[at].line, message));
            }
        }
    }
}

fn matches(words: &[Word], at: usize, phrase: &Phrase) -> bool {
    let mut next = at;
    for wanted in phrase.words.split(' ') {
        if words.get(next).is_none_or(|word| word.text != wanted) {
            return false;
        }
        next += 1;
    }
    let is_one_of =
        |word: Option<&Word>, list: &[&str]| word.is_some_and(|word| list.contains(&word.text.as_str()));
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    !is_one_of(before, phrase.not_after) && !is_one_of(words.get(next), phrase.not_before)
}

/// Returns the words of a Markdown text, without code blocks, code spans, quoted phrases, link targets and HTML.
fn prose(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut fence: Option<&str> = None;
    let mut closing: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let trimmed = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            words.push(Word { text: ".".into(), line: line_number });
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if trimmed.is_empty() {
            // A paragraph ends here, and with it whatever was opened in it.
            closing = None;
            words.push(Word { text: ".".into(), line: line_number });
        }
        read_line(line, line_number, &mut closing, &mut words);
    }
    words
}

/// What is skipped, from its opening to its closing mark; it may go on in the next line.
const SKIPPED: [(&str, &str); 5] = [("``", "``"), ("`", "`"), ("](", ")"), ("<", ">"), ("\"", "\"")];

fn read_line(line: &str, number: usize, closing: &mut Option<&'static str>, words: &mut Vec<Word>) {
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Some(end) = *closing {
            let Some(at) = rest.find(end) else { return };
            rest = &rest[at + end.len()..];
            *closing = None;
            words.push(Word { text: ".".into(), line: number });
        } else if let Some((open, end)) = SKIPPED.into_iter().find(|(open, _)| rest.starts_with(open)) {
            rest = &rest[open.len()..];
            *closing = Some(end);
        } else if first.is_alphanumeric() {
            let part_of_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_');
            let end = rest.find(|c| !part_of_word(c)).unwrap_or(rest.len());
            words.push(Word { text: rest[..end].to_lowercase(), line: number });
            rest = &rest[end..];
        } else {
            if !first.is_whitespace() && !matches!(first, '*' | '_') {
                words.push(Word { text: ".".into(), line: number });
            }
            rest = &rest[first.len_utf8()..];
        }
    }
}
