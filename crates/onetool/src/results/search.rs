//! Finding lines: by regular expression, or by likeness.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use regex::RegexBuilder;

use super::QueryError;

/// Largest compiled pattern; patterns run in linear time, and this keeps the factor small.
const PATTERN_SIZE: usize = 1 << 20;
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How alike a line has to be: 1 is the same words.
const LIKE_ENOUGH: f64 = 0.6;
const SEARCH_WORDS: usize = 16;
/// Longer words are compared by containment alone.
const LONGEST_WORD: usize = 64;

/// Returns the lines that match the pattern, in order.
pub(super) fn matching<'a>(lines: &[&'a str], pattern: &str) -> Result<Vec<&'a str>, QueryError> {
    let regex = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
    let regex = regex.map_err(|error| QueryError::Pattern { reason: error.to_string() })?;
    let deadline = Deadline::start();
    let mut found = Vec::new();
    for line in lines {
        deadline.check()?;
        if regex.is_match(line) {
            found.push(*line);
        }
    }
    Ok(found)
}

/// Returns the lines that are like the search words, the best first.
pub(super) fn similar<'a>(lines: &[&'a str], search: &str) -> Result<Vec<&'a str>, QueryError> {
    let search = search.trim().to_lowercase();
    let mut wanted: Vec<&str> = words(&search).take(SEARCH_WORDS).collect();
    if wanted.is_empty() {
        wanted.push(&search);
    }
    let lowered: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    // Texts repeat their words, so each word is compared once.
    let mut known: Vec<HashMap<&str, f64>> = vec![HashMap::new(); wanted.len()];
    let deadline = Deadline::start();
    let mut scored = Vec::new();
    for (line, lowered) in lines.iter().zip(&lowered) {
        deadline.check()?;
        let score = if lowered.contains(&search) {
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
            scored.push((score, *line));
        }
    }
    // The sort is stable: equally good lines stay in order.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(scored.into_iter().map(|(_, line)| line).collect())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
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
