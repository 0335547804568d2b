//! Did-you-mean.

/// Returns the word that `typed` was most likely meant to be.
pub(super) fn closest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (typed.chars().count() / 3).max(1);
    let near = words.into_iter().map(|word| (strsim::osa_distance(typed, word), word));
    near.filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}
