//! Which names a query may mean, best first; a typo is no obstacle.

/// Something that help can tell about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
}

const GOOD_ENOUGH: f64 = 0.45;
/// Below this, two words are different words.
const SIMILAR: f64 = 0.7;

/// Returns the indices of the candidates that fit, best first.
pub(super) fn rank(query: &str, candidates: &[Candidate<'_>]) -> Vec<usize> {
    let query = words(query);
    let scored = candidates.iter().enumerate().map(|(index, it)| (score(&query, *it), index));
    let mut scored: Vec<(f64, usize)> = scored.filter(|(score, _)| *score >= GOOD_ENOUGH).collect();
    let name = |index: usize| candidates[index].name;
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| name(*x).cmp(name(*y))));
    scored.into_iter().map(|(_, index)| index).collect()
}

fn score(query: &[String], candidate: Candidate<'_>) -> f64 {
    if query.is_empty() {
        return 0.0;
    }
    let (name, description) = (words(candidate.name), words(candidate.description));
    let word_scores = query.iter().map(|word| {
        let in_name = name.iter().map(|it| word_score(word, it)).fold(0.0, f64::max);
        let in_description = description.iter().map(|it| word_score(word, it)).fold(0.0, f64::max);
        in_name.max(in_description * 0.5)
    });
    #[expect(clippy::cast_precision_loss, reason = "queries have few words")]
    let mean = word_scores.sum::<f64>() / query.len() as f64;
    // Words that somebody wrote together or apart: `webfetch`, `brave search`.
    let whole = strsim::normalized_damerau_levenshtein(&query.concat(), &name.concat());
    let bonus = if whole >= SIMILAR { whole * 0.3 } else { 0.0 };
    mean.max(if whole >= SIMILAR { whole * 0.8 } else { 0.0 }) + bonus
}

fn word_score(query: &str, word: &str) -> f64 {
    if query == word {
        return 1.0;
    }
    if query.len() >= 3 && word.starts_with(query) {
        return 0.9;
    }
    let similarity = strsim::normalized_damerau_levenshtein(query, word);
    if similarity >= SIMILAR { similarity * 0.9 } else { 0.0 }
}

/// Splits at everything that is no letter or digit, and where a small letter meets a capital one.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_small = c.is_lowercase();
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
            ("web.fetch_batch", "Fetch several pages at once."),
            ("firecrawl.scrape", "Scrape a page."),
            ("scaffold.create", "Create a project from a template."),
            ("excel.readSheet", "Read a table."),
            ("db.query", "Run a query against a database."),
        ]
        .map(|(name, description)| Candidate { name, description });
        rank(query, &candidates).into_iter().map(|index| candidates[index].name).collect()
    }

    #[test]
    fn ot_12_6_names_and_descriptions_are_searched() {
        assert_eq!(ranked("web fetch"), ["web.fetch", "web.fetch_batch", "brave.web_search"]);
        assert_eq!(ranked("database"), ["db.query"]);
        assert_eq!(ranked("read sheet"), ["excel.readSheet"]);
        assert_eq!(ranked("FETCH"), ["web.fetch", "web.fetch_batch"]);
    }

    #[test]
    fn ot_12_7_typos_find_what_was_meant() {
        assert_eq!(ranked("scaffoldl"), ["scaffold.create"]);
        assert_eq!(ranked("frirecrawl"), ["firecrawl.scrape"]);
        assert_eq!(ranked("web.fecth")[0], "web.fetch");
        assert_eq!(ranked("webfetch")[0], "web.fetch");
        assert_eq!(ranked("brave.websearch")[0], "brave.web_search");
    }

    #[test]
    fn ot_12_12_what_fits_nothing_finds_nothing() {
        assert!(ranked("xyzzy").is_empty());
        assert!(ranked("!?").is_empty());
        assert!(ranked("").is_empty());
    }
}
