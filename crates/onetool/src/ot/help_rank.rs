//! Ranking of items by how well their names match a query; tolerates typos.

use onetool_core::similarity;

/// An item that a query may refer to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
}

const MIN_SCORE: f64 = 0.45;
/// The minimum similarity of two words that may be the same.
const MIN_SIMILARITY: f64 = 0.7;
/// Maximum number of words in a query, because each is compared with every word of every name.
const MAX_WORDS: usize = 8;

/// Returns the indices of matching candidates, best first.
pub(super) fn rank<'a>(query: &str, candidates: impl Iterator<Item = Candidate<'a>>) -> Vec<usize> {
    let query: Vec<String> = words(query).into_iter().take(MAX_WORDS).collect();
    if query.is_empty() {
        return Vec::new();
    }
    let whole = query.concat();
    let scored = candidates.enumerate().map(|(index, it)| (score(&query, &whole, it), index, it.name));
    let mut scored: Vec<(f64, usize, &str)> = scored.filter(|(score, ..)| *score >= MIN_SCORE).collect();
    scored.sort_by(|(a, _, x), (b, _, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    scored.into_iter().map(|(_, index, _)| index).collect()
}

fn score(query: &[String], whole: &str, candidate: Candidate<'_>) -> f64 {
    let (name, description) = (words(candidate.name), words(candidate.description));
    let best = |word: &str, words: &[String], score: fn(&str, &str) -> f64| {
        words.iter().map(|it| score(word, it)).fold(0.0, f64::max)
    };
    let word_scores = query.iter().map(|word| {
        // Descriptions must contain the exact word: they are long, so almost any typo resembles one of their words.
        best(word, &name, word_score).max(best(word, &description, same_word) * 0.5)
    });
    #[expect(clippy::cast_precision_loss, reason = "queries have few words")]
    let mean = word_scores.sum::<f64>() / query.len() as f64;
    // Words may be joined or split: `webfetch`, `brave search`.
    let whole = similarity(whole, &name.concat());
    let bonus = if whole >= MIN_SIMILARITY { whole * 0.3 } else { 0.0 };
    mean.max(if whole >= MIN_SIMILARITY { whole * 0.8 } else { 0.0 }) + bonus
}

fn word_score(query: &str, word: &str) -> f64 {
    let similarity = similarity(query, word);
    let similar = if similarity >= MIN_SIMILARITY { similarity * 0.9 } else { 0.0 };
    same_word(query, word).max(similar)
}

fn same_word(query: &str, word: &str) -> f64 {
    if query == word {
        1.0
    } else if query.len() >= 3 && word.starts_with(query) {
        0.9
    } else {
        0.0
    }
}

/// Splits a text at characters that are not letters or digits, and before an uppercase letter that follows a lowercase
/// one.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lowercase = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (was_lowercase && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lowercase = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &str) -> Vec<&'static str> {
        let candidates = [
            ("brave.web_search", "Search the web."),
            ("web.fetch", "Fetch a page and return its text."),
            ("web.fetch_batch", "Fetch several pages."),
            ("firecrawl.scrape", "Scrape a page."),
            ("scaffold.create", "Create a project from a template."),
            ("excel.readSheet", "Read a table."),
            ("db.query", "Run a query against a database."),
        ]
        .map(|(name, description)| Candidate { name, description });
        rank(query, candidates.iter().copied()).into_iter().map(|index| candidates[index].name).collect()
    }

    #[test]
    fn ot_12_6_names_and_descriptions_are_searched() {
        assert_eq!(ranked("web fetch"), ["web.fetch", "web.fetch_batch", "brave.web_search"]);
        assert_eq!(ranked("database"), ["db.query"]);
        assert_eq!(ranked("read sheet"), ["excel.readSheet"]);
        assert_eq!(ranked("FETCH"), ["web.fetch", "web.fetch_batch"]);
    }

    #[test]
    fn ot_12_7_typos_are_tolerated() {
        assert_eq!(ranked("scaffoldl"), ["scaffold.create"]);
        assert_eq!(ranked("frirecrawl"), ["firecrawl.scrape"]);
        assert_eq!(ranked("web.fecth")[0], "web.fetch");
        assert_eq!(ranked("webfetch")[0], "web.fetch");
        assert_eq!(ranked("brave.websearch")[0], "brave.web_search");
    }

    #[test]
    fn ot_12_12_other_queries_match_nothing() {
        assert!(ranked("xyzzy").is_empty());
        assert!(ranked("!?").is_empty());
        assert!(ranked("").is_empty());
    }
}
