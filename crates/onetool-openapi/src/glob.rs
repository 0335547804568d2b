//! Globs with `*` and `?`.

/// Matches `*` (anything, also nothing) and `?` (one character); at most one star is tried again, so it is never slow.
pub(crate) fn matches_glob(glob: &str, text: &str) -> bool {
    let (mut rest, mut text) = (glob, text);
    let mut star: Option<(&str, &str)> = None;
    loop {
        let next = text.chars().next();
        match (rest.chars().next(), next) {
            (Some('*'), _) => {
                rest = &rest[1..];
                star = Some((rest, text));
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                rest = &rest[wanted.len_utf8()..];
                text = &text[found.len_utf8()..];
            }
            (None, None) => return true,
            _ => {
                let Some((after, tried)) = star else { return false };
                let Some(skipped) = tried.chars().next() else { return false };
                text = &tried[skipped.len_utf8()..];
                rest = after;
                star = Some((after, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches_glob;

    #[test]
    fn globs_match_as_people_expect() {
        for (glob, text, expected) in [
            ("*", "", true),
            ("get*", "getPet", true),
            ("get*", "forget", false),
            ("*Pet", "getPetPet", true),
            ("/v?/*", "/v1/a/b", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b", "aXbX", false),
            ("é?", "éü", true),
            ("", "a", false),
        ] {
            assert_eq!(matches_glob(glob, text), expected, "{glob} {text}");
        }
    }
}
