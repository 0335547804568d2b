//! Finding lines: by regular expression, or by likeness. Both go line by line, and a line is short.

use std::collections::HashMap;
use std::ops::Range;

use onetool_core::similarity;
use regex::{Regex, RegexBuilder};

use super::error::QueryError;
use super::lines::{LINE_MAX, lines, pieces};
use super::stop::Stop;

/// Longest pattern, in bytes, and largest compiled one. Patterns run in linear time, and this keeps the factor small.
const PATTERN_MAX: usize = 10_000;
const PATTERN_SIZE: usize = 1 << 20;
/// How far, in bytes, a match may reach beyond the piece of a long line in which it begins.
const REACH: usize = LINE_MAX;
/// How alike a line has to be: 1 is the same words.
const LIKE_ENOUGH: f64 = 0.6;
const SEARCH_WORDS: usize = 16;
/// What a word is worth that only contains the one that is looked for, or resembles it.
const PART_OF_A_WORD: f64 = 0.9;
/// How many words of the text are remembered with their likeness.
const KNOWN_WORDS: usize = 100_000;

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
        if text.len() > PATTERN_MAX {
            return Err(QueryError::LongSearch { length: text.len(), max: PATTERN_MAX });
        }
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

    /// Returns which lines of a text are found, counted from 0: matching ones in order, similar ones the best first.
    pub(super) fn find(&self, text: &str, stop: &Stop) -> Result<Vec<usize>, QueryError> {
        match self {
            Self::Pattern(regex) => {
                let pieces = text.lines().flat_map(|line| pieces(line).map(move |piece| (line, piece)));
                matching(pieces, regex, stop)
            }
            Self::Words { phrase, words } => similar(lines(text), phrase, words, stop),
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

fn matching<'a>(
    pieces: impl Iterator<Item = (&'a str, Range<usize>)>,
    regex: &Regex,
    stop: &Stop,
) -> Result<Vec<usize>, QueryError> {
    let mut found = Vec::new();
    for (at, (line, piece)) in pieces.enumerate() {
        stop.check()?;
        // Within its line, so that `^`, `$` and `\b` mean what they say, and a match may continue in the next piece.
        let end = line.floor_char_boundary((piece.end + REACH).min(line.len()));
        let is_last = piece.end == line.len();
        let begins_here = |start: usize| start < piece.end || is_last;
        if regex.find_at(&line[..end], piece.start).is_some_and(|found| begins_here(found.start())) {
            found.push(at);
        }
    }
    Ok(found)
}

fn similar<'a>(
    lines: impl Iterator<Item = &'a str>,
    phrase: &str,
    wanted: &[String],
    stop: &Stop,
) -> Result<Vec<usize>, QueryError> {
    // Text repeats its words, so each word is compared once.
    let mut known: Vec<HashMap<String, f64>> = vec![HashMap::new(); wanted.len()];
    let mut scored = Vec::new();
    for (at, line) in lines.enumerate() {
        stop.check()?;
        let line = line.to_lowercase();
        let best = wanted.iter().zip(&mut known).map(|(wanted, known)| {
            words(&line).map(|word| remembered(known, wanted, word)).fold(0.0, f64::max)
        });
        // Words apart from each other are a little less than the phrase itself, and a part of a word less than a word.
        let apart = best.sum::<f64>() / count(wanted.len()) * 0.99;
        let together = phrase_score(&line, phrase);
        let score = apart.max(together);
        if score >= LIKE_ENOUGH {
            scored.push((score, at));
        }
    }
    // The sort is stable: equally good lines stay in order.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(scored.into_iter().map(|(_, at)| at).collect())
}

fn remembered(known: &mut HashMap<String, f64>, wanted: &str, word: &str) -> f64 {
    if let Some(score) = known.get(word) {
        return *score;
    }
    let score = likeness(wanted, word);
    if known.len() < KNOWN_WORDS {
        known.insert(word.to_owned(), score);
    }
    score
}

/// Scores a line that holds the phrase: as separate words, or as a part of others.
fn phrase_score(line: &str, phrase: &str) -> f64 {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (first, last) = (phrase.chars().next(), phrase.chars().next_back());
    let mut score = 0.0;
    for (at, found) in line.match_indices(phrase) {
        let before = line[..at].chars().next_back();
        let after = line[at + found.len()..].chars().next();
        let is_inside = (is_letter(before) && is_letter(first)) || (is_letter(after) && is_letter(last));
        if !is_inside {
            return 1.0;
        }
        score = PART_OF_A_WORD;
    }
    score
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
    let is_long_enough = wanted.chars().nth(2).is_some();
    if is_long_enough && word.contains(wanted) {
        return PART_OF_A_WORD;
    }
    similarity(wanted, word) * PART_OF_A_WORD
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and letters are small")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use super::*;

    fn found(text: &str, search: &str, fuzzy: bool) -> Vec<usize> {
        let (stop, _guard) = Stop::new(Duration::MAX / 4);
        Search::new(search, fuzzy).unwrap().find(text, &stop).unwrap()
    }

    #[test]
    fn h12_a_search_ends_at_the_next_line_when_nobody_waits_for_it() {
        let words = ["needle".to_owned()];
        let regex = Regex::new("needle").unwrap();
        for fuzzy in [true, false] {
            let (stop, guard) = Stop::new(Duration::MAX / 4);
            let (guard, looked_at) = (RefCell::new(Some(guard)), Cell::new(0));
            // Without end, so that only giving up ends it.
            let endless = std::iter::repeat("a haystack").inspect(|_| {
                looked_at.set(looked_at.get() + 1);
                if looked_at.get() == 10 {
                    guard.take();
                }
            });
            let result = if fuzzy {
                similar(endless, "needle", &words, &stop)
            } else {
                matching(endless.map(|line| (line, 0..line.len())), &regex, &stop)
            };
            assert!(matches!(result, Err(QueryError::Canceled)));
            assert_eq!(looked_at.get(), 10);
        }
    }

    #[test]
    fn h12_a_search_ends_when_its_time_is_over() {
        let (stop, _guard) = Stop::new(Duration::ZERO);
        let search = Search::new("a", false).unwrap();
        assert!(matches!(search.find("a", &stop), Err(QueryError::TooSlow { .. })));
        assert!(matches!(
            Search::new(&"a".repeat(PATTERN_MAX + 1), false),
            Err(QueryError::LongSearch { .. })
        ));
    }

    #[test]
    fn d8_the_exact_word_comes_before_words_that_contain_or_resemble_it() {
        let text = "terrors\nerrors\nerror\neror\nan error: here\nnothing";
        assert_eq!(found(text, "error", true), [2, 4, 0, 1, 3]);
        let text = "dbs connections refused\nrefused: the db connection\ndb connection refused\ndb connection refusal";
        assert_eq!(found(text, "db connection refused", true)[..2], [2, 1]);
        assert_eq!(found("a::b\nc", "::", true), [0]);
    }

    #[test]
    fn l7_a_pattern_finds_what_stands_across_the_pieces_of_a_long_line() {
        let line = format!("{}needle{}", "x".repeat(LINE_MAX - 3), "y".repeat(2 * LINE_MAX));
        let text = format!("first\n{line}\nlast");
        assert_eq!(found(&text, "needle", false), [1], "where it begins");
        assert_eq!(found(&text, "^x", false), [1], "a piece is not the beginning of a line");
        assert_eq!(found(&text, "y$", false), [4]);
        assert_eq!(found(&text, "^last$", false), [5]);
        assert_eq!(found(&text, "^", false), [0, 1, 5]);
    }
}
