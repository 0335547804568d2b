//! Names that look alike: what somebody may have meant by one that does not exist.

use std::borrow::Cow;

/// Longest name that is compared, in characters. Nobody mistypes a longer one, and comparing takes the product of both
/// lengths.
pub const COMPARED_MAX: usize = 64;

/// How much of a name an error repeats, in characters.
const SHOWN_MAX: usize = 200;
/// How many names are suggested, and how alike they have to be.
const MAX_SUGGESTIONS: usize = 3;
const ALIKE: f64 = 0.6;
/// What one search may cost, in pairs of characters: a few milliseconds, whatever the size of the catalog.
const MAX_WORK: usize = 4_000_000;

/// Returns the names that look most like `typed`, best first.
///
/// Case and the characters that join words (`.`, `-`, `_`) do not matter. A name that is longer than [`COMPARED_MAX`]
/// resembles nothing.
///
/// ```
/// let names = ["brave.web_search", "web.fetch"];
/// assert_eq!(onetool_core::similar_names("brave_websearch", names), ["brave.web_search"]);
/// ```
pub fn similar_names<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    similar_items(typed, names.into_iter().map(|name| (name, name)))
}

/// Returns the items with the names that look most like `typed`, best first. An item may have several names.
pub fn similar_items<'a, T: Ord + Copy>(
    typed: &str,
    names: impl IntoIterator<Item = (T, &'a str)>,
) -> Vec<T> {
    let Some(typed) = comparable(typed) else { return Vec::new() };
    let mut work = 0;
    let mut scored: Vec<(f64, T)> = Vec::new();
    for (item, name) in names {
        let Some(name) = comparable(name) else { continue };
        if !may_be_alike(&typed, &name) {
            continue;
        }
        work += typed.len() * name.len();
        if work > MAX_WORK {
            break;
        }
        let score = likeness(&typed, &name);
        if score >= ALIKE {
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

/// Returns how alike two words are, from 0 to 1, which is the same word in any case. A word that is longer than
/// [`COMPARED_MAX`] resembles nothing.
pub fn similarity(left: &str, right: &str) -> f64 {
    match (comparable(left), comparable(right)) {
        (Some(left), Some(right)) if may_be_alike(&left, &right) => likeness(&left, &right),
        _ => 0.0,
    }
}

/// Returns as much of a name, address or path that somebody sent as an error should repeat.
pub fn shown(name: &str) -> Cow<'_, str> {
    shorten(name, SHOWN_MAX)
}

/// Shortens text that is repeated in a message to at most `max` characters and a mark that there was more.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Returns a name in the form that is compared, unless it is too long; that is found out without reading all of it.
fn comparable(name: &str) -> Option<Vec<char>> {
    if name.chars().nth(COMPARED_MAX).is_some() {
        return None;
    }
    let joined = |c: char| if matches!(c, '.' | '-') { '_' } else { c };
    Some(name.chars().flat_map(char::to_lowercase).map(joined).collect())
}

/// Rules most names out by their length alone: every character that one of them has more is an edit.
fn may_be_alike(left: &[char], right: &[char]) -> bool {
    let (shorter, longer) = (left.len().min(right.len()), left.len().max(right.len()));
    shorter > 0 && count(shorter) >= ALIKE * count(longer)
}

fn likeness(left: &[char], right: &[char]) -> f64 {
    let edits = strsim::generic_damerau_levenshtein(left, right);
    1.0 - count(edits) / count(left.len().max(right.len()))
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h8_names_that_are_too_long_are_not_compared() {
        let (longest, longer) = ("x".repeat(COMPARED_MAX), "x".repeat(COMPARED_MAX + 1));
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
        let looked_at = std::cell::Cell::new(0);
        let counted = names.iter().map(String::as_str).inspect(|_| looked_at.set(looked_at.get() + 1));
        let found = similar_names("server.some_tool_name_000001x", counted);
        assert_eq!(found[0], "server.some_tool_name_000001");
        assert!(looked_at.get() * 28 * 29 <= MAX_WORK + 28 * 29, "{} names", looked_at.get());
    }

    #[test]
    fn case_and_joints_do_not_matter_and_an_item_is_suggested_once() {
        assert_eq!(similar_names("Get-Sum", ["get_sum", "get_sun", "other"]), ["get_sum", "get_sun"]);
        assert_eq!(similar_items("fecth", [(1, "web_fetch"), (1, "fetch"), (2, "fletch")]), [1, 2]);
        assert!(similar_names("", ["a"]).is_empty());
        assert!(similarity("weather", "wether") > 0.8);
    }
}
