//! Finding lines: by regular expression, or by likeness.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use super::QueryError;

/// Largest compiled pattern; patterns run in linear time, and this keeps the factor small.
const PATTERN_SIZE: usize = 1 << 20;
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How alike a line has to be: 1 is the same words.
const LIKE_ENOUGH: f64 = 0.6;
const SEARCH_WORDS: usize = 16;
/// Longer words are compared by containment alone.
const LONGEST_WORD: usize = 64;

/// What is looked for.
pub(super) enum Search {
    /// Lines that match.
    Pattern(Regex),
    /// Lines that are like these words.
    Words {
        /// All of it in lower case.
        phrase: String,
        /// The words of it, or the phrase where it has none.
        words: Vec<String>,
    },
}

impl Search {
    /// Reads what is looked for; a pattern has to be one.
    pub(super) fn new(text: &str, fuzzy: bool) -> Result<Self, QueryError> {
        if !fuzzy {
            let regex = RegexBuilder::new(text).size_limit(PATTERN_SIZE).build();
            return regex
                .map(Self::Pattern)
                .map_err(|error| QueryError::Pattern { reason: error.to_string() });
        }
        let phrase = text.trim().to_lowercase();
        let mut wanted: Vec<String> = words(&phrase).take(SEARCH_WORDS).map(str::to_owned).collect();
        if wanted.is_empty() {
            wanted.push(phrase.clone());
        }
        Ok(Self::Words { phrase, words: wanted })
    }

    /// Returns which lines are found: matching ones in order, similar ones the best first.
    pub(super) fn find(&self, lines: &[&str]) -> Result<Vec<usize>, QueryError> {
        match self {
            Self::Pattern(regex) => matching(lines, regex),
            Self::Words { phrase, words } => similar(lines, phrase, words),
        }
    }

    /// Returns what in a line is looked for, as begin and end in UTF-16 units.
    pub(super) fn marks(&self, line: &str) -> Vec<(usize, usize)> {
        let ranges: Vec<Range<usize>> = match self {
            Self::Pattern(regex) => {
                regex.find_iter(line).filter(|found| !found.is_empty()).map(|found| found.range()).collect()
            }
            Self::Words { words: wanted, .. } => {
                let is_like = |range: &Range<usize>| {
                    let word = line[range.clone()].to_lowercase();
                    wanted.iter().any(|wanted| likeness(wanted, &word) >= LIKE_ENOUGH)
                };
                word_ranges(line).filter(is_like).collect()
            }
        };
        let units = |text: &str| text.encode_utf16().count();
        let mut marks = Vec::with_capacity(ranges.len());
        let (mut at, mut counted) = (0, 0);
        for range in ranges {
            counted += units(&line[at..range.start]);
            let begin = counted;
            counted += units(&line[range.clone()]);
            marks.push((begin, counted));
            at = range.end;
        }
        marks
    }
}

fn matching(lines: &[&str], regex: &Regex) -> Result<Vec<usize>, QueryError> {
    let deadline = Deadline::start();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        deadline.check()?;
        if regex.is_match(line) {
            found.push(at);
        }
    }
    Ok(found)
}

fn similar(lines: &[&str], phrase: &str, wanted: &[String]) -> Result<Vec<usize>, QueryError> {
    let lowered: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    // Texts repeat their words, so each word is compared once.
    let mut known: Vec<HashMap<&str, f64>> = vec![HashMap::new(); wanted.len()];
    let deadline = Deadline::start();
    let mut scored = Vec::new();
    for (at, lowered) in lowered.iter().enumerate() {
        deadline.check()?;
        let score = if lowered.contains(phrase) {
            1.0
        } else {
            let best = wanted.iter().zip(&mut known).map(|(wanted, known)| {
                let scores =
                    words(lowered).map(|word| *known.entry(word).or_insert_with(|| likeness(wanted, word)));
                scores.fold(0.0, f64::max)
            });
            // Words apart from each other are a little less than the phrase itself.
            best.sum::<f64>() / count(wanted.len()) * 0.99
        };
        if score >= LIKE_ENOUGH {
            scored.push((score, at));
        }
    }
    // The sort is stable: equally good lines stay in order.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(scored.into_iter().map(|(_, at)| at).collect())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    word_ranges(text).map(|range| &text[range])
}

fn word_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let begin = end + text[end..].find(char::is_alphanumeric)?;
        let length = text[begin..].find(|c: char| !c.is_alphanumeric());
        end = length.map_or(text.len(), |length| begin + length);
        Some(begin..end)
    })
}

fn likeness(wanted: &str, word: &str) -> f64 {
    if wanted == word {
        return 1.0;
    }
    let (wanted_length, word_length) = (wanted.chars().count(), word.chars().count());
    let (shorter, longer) = (wanted_length.min(word_length), wanted_length.max(word_length));
    if wanted_length >= 3 && word.contains(wanted) {
        return 0.9;
    }
    if longer > LONGEST_WORD || shorter * 2 < longer {
        return 0.0;
    }
    1.0 - count(strsim::osa_distance(wanted, word)) / count(longer)
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and letters are small")]
fn count(number: usize) -> f64 {
    number as f64
}

struct Deadline(Instant);

impl Deadline {
    fn start() -> Self {
        Self(Instant::now() + TIME_LIMIT)
    }

    fn check(&self) -> Result<(), QueryError> {
        if Instant::now() < self.0 {
            Ok(())
        } else {
            Err(QueryError::TooSlow { seconds: TIME_LIMIT.as_secs() })
        }
    }
}
