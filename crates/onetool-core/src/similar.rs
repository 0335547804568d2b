//! Similar names, for suggestions about misspelled ones.

use std::borrow::Cow;

/// Maximum length of a compared name, in characters. Longer names are rarely typed by hand, and the cost of a comparison
/// is the product of both lengths.
const MAX_COMPARED_CHARS: usize = 64;

/// Maximum length of a name in an error message, in characters.
const MAX_ABBREVIATED_CHARS: usize = 200;
/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;
/// Minimum similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.6;
/// Maximum cost of one search, in pairs of characters: a few milliseconds, whatever the size of the catalog.
const MAX_WORK: usize = 4_000_000;

/// Returns the names most similar to `typed`, best first.
///
/// Ignores case, and treats the word separators `.`, `-` and `_` as equal. A name of more than 64 characters
/// is similar to nothing.
///
/// ```
/// let names = ["brave.web_search", "web.fetch"];
/// assert_eq!(onetool_core::similar_names("brave_websearch", names), ["brave.web_search"]);
/// ```
pub fn similar_names<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    similar_items(typed, names.into_iter().map(|name| (name, name)))
}

/// Returns the items whose names are most similar to `typed`, best first. An item may have several names.
pub fn similar_items<'a, T: Ord + Copy>(
    typed: &str,
    names: impl IntoIterator<Item = (T, &'a str)>,
) -> Vec<T> {
    let Some(typed) = comparable(typed) else { return Vec::new() };
    let mut work = 0;
    let mut scored: Vec<(f64, T)> = Vec::new();
    for (item, name) in names {
        let Some(name) = comparable(name) else { continue };
        if !may_be_similar(&typed, &name) {
            continue;
        }
        work += typed.len() * name.len();
        if work > MAX_WORK {
            break;
        }
        let score = score(&typed, &name);
        if score >= MIN_SIMILARITY {
            scored.push((score, item));
        }
    }
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    let mut items = Vec::new();
    for (_, item) in scored {
        if !items.contains(&item) && items.len() < MAX_SUGGESTIONS {
            items.push(item);
        }
    }
    items
}

/// Returns the similarity of two words, from 0 to 1 (equal except for case). A word of more than 64
/// characters is similar to nothing.
pub fn similarity(left: &str, right: &str) -> f64 {
    match (comparable(left), comparable(right)) {
        (Some(left), Some(right)) if may_be_similar(&left, &right) => score(&left, &right),
        _ => 0.0,
    }
}

/// Shortens a name, URI or path from outside for an error message.
pub fn abbreviate(name: &str) -> Cow<'_, str> {
    shorten(name, MAX_ABBREVIATED_CHARS)
}

/// Shortens text to at most `max` characters, followed by `…` if some are missing.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Normalizes a name for comparison. Returns `None` if it is too long, without reading all of it.
fn comparable(name: &str) -> Option<Vec<char>> {
    if name.chars().nth(MAX_COMPARED_CHARS).is_some() {
        return None;
    }
    let separator = |c: char| if matches!(c, '.' | '-') { '_' } else { c };
    Some(name.chars().flat_map(char::to_lowercase).map(separator).collect())
}

/// Rules out most names by their length: each additional character of the longer name is an edit.
fn may_be_similar(left: &[char], right: &[char]) -> bool {
    let (shorter, longer) = (left.len().min(right.len()), left.len().max(right.len()));
    shorter > 0 && as_f64(shorter) >= MIN_SIMILARITY * as_f64(longer)
}

fn score(left: &[char], right: &[char]) -> f64 {
    let edits = strsim::generic_damerau_levenshtein(left, right);
    1.0 - as_f64(edits) / as_f64(left.len().max(right.len()))
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn as_f64(length: usize) -> f64 {
    length as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h8_names_that_are_too_long_are_not_compared() {
        let (longest, longer) = ("x".repeat(MAX_COMPARED_CHARS), "x".repeat(MAX_COMPARED_CHARS + 1));
        assert_eq!(similar_names(&longest, [longest.as_str()]), [longest.as_str()]);
        assert!(similar_names(&longer, [longest.as_str(), longer.as_str()]).is_empty());
        assert!(similar_names(&longest, [longer.as_str()]).is_empty());
        assert_eq!((similarity(&longer, &longest), similarity(&longest, &longer)), (0.0, 0.0));
        let huge = "é".repeat(2_000_000);
        assert!(similar_names(&huge, [huge.as_str()]).is_empty());
        assert_eq!(shorten(&huge, 3), "ééé…");
        assert_eq!(shorten("ééé", 3), "ééé");
    }

    #[test]
    fn h8_the_work_of_one_search_is_bounded_however_many_names_there_are() {
        let names: Vec<String> = (0..100_000).map(|it| format!("server.some_tool_name_{it:06}")).collect();
        let compared = std::cell::Cell::new(0);
        let counted = names.iter().map(String::as_str).inspect(|_| compared.set(compared.get() + 1));
        let found = similar_names("server.some_tool_name_000001x", counted);
        assert_eq!(found[0], "server.some_tool_name_000001");
        assert!(compared.get() * 28 * 29 <= MAX_WORK + 28 * 29, "{} names", compared.get());
    }

    #[test]
    fn case_and_separators_do_not_matter_and_an_item_is_suggested_once() {
        assert_eq!(similar_names("Get-Sum", ["get_sum", "get_sun", "other"]), ["get_sum", "get_sun"]);
        assert_eq!(similar_items("fecth", [(1, "web_fetch"), (1, "fetch"), (2, "fletch")]), [1, 2]);
        assert!(similar_names("", ["a"]).is_empty());
        assert!(similarity("weather", "wether") > 0.8);
    }
}
