//! Names that look alike.

const NEAR_ENOUGH: f64 = 0.6;
const MAX_NEAR: usize = 3;

/// Returns the names that look most like `typed`, best first.
pub(super) fn near<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let typed = typed.to_lowercase();
    let score = |name: &str| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &typed);
    let scored = names.into_iter().map(|name| (score(name), name));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score >= NEAR_ENOUGH).collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    scored.into_iter().take(MAX_NEAR).map(|(_, name)| name.to_owned()).collect()
}
