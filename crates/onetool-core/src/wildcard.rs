//! Wildcard patterns.

/// Returns whether `text` matches a pattern with `*` (zero or more characters) and `?` (one character).
///
/// With a separator, neither wildcard matches the separator, and `**` matches anything. Takes time proportional to the
/// length of the pattern times the length of the text, even in the worst case.
///
/// ```
/// use onetool_core::matches_wildcard;
///
/// assert!(matches_wildcard("github.delete_*", "github.delete_repo", None));
/// assert!(!matches_wildcard("status:*", "status:build:linux", Some(':')));
/// assert!(matches_wildcard("status:**", "status:build:linux", Some(':')));
/// ```
pub fn matches_wildcard(pattern: &str, text: &str, separator: Option<char>) -> bool {
    let pieces = pieces(pattern);
    // `reached[i]`: after the text so far, piece `i` can match next; the last entry is the end of the pattern.
    let mut reached = vec![false; pieces.len() + 1];
    reached[0] = true;
    skip_stars(&pieces, &mut reached);
    for found in text.chars() {
        // Backwards, because `reached[index]` depends on the previous value of `reached[index - 1]`.
        for index in (0..=pieces.len()).rev() {
            let stays = pieces.get(index).is_some_and(|piece| piece.extends_over(found, separator));
            let advances = index > 0 && reached[index - 1] && pieces[index - 1].matches_one(found, separator);
            reached[index] = (reached[index] && stays) || advances;
        }
        skip_stars(&pieces, &mut reached);
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[pieces.len()]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// This character.
    Literal(char),
    /// `?`.
    AnyChar,
    /// `*`.
    Star,
    /// `**`.
    DoubleStar,
}

impl Piece {
    /// Returns whether the piece matches exactly one character, and matches this one.
    fn matches_one(self, found: char, separator: Option<char>) -> bool {
        match self {
            Self::Literal(wanted) => wanted == found,
            Self::AnyChar => Some(found) != separator,
            Self::Star | Self::DoubleStar => false,
        }
    }

    /// Returns whether the piece matches this character and can match more after it.
    fn extends_over(self, found: char, separator: Option<char>) -> bool {
        match self {
            Self::Literal(_) | Self::AnyChar => false,
            Self::Star => Some(found) != separator,
            Self::DoubleStar => true,
        }
    }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut characters = pattern.chars().peekable();
    let mut pieces = Vec::new();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '*' if characters.next_if_eq(&'*').is_some() => Piece::DoubleStar,
            '*' => Piece::Star,
            '?' => Piece::AnyChar,
            character => Piece::Literal(character),
        });
    }
    pieces
}

/// Marks as reached what follows a piece that can match the empty string.
fn skip_stars(pieces: &[Piece], reached: &mut [bool]) {
    for (index, piece) in pieces.iter().enumerate() {
        reached[index + 1] |= reached[index] && matches!(piece, Piece::Star | Piece::DoubleStar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h12_wildcards_match_as_people_expect() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "a.b", true),
            ("", "", true),
            ("", "a", false),
            ("get*", "getPet", true),
            ("get*", "forget", false),
            ("*Pet", "getPetPet", true),
            ("/v?/*", "/v1/a/b", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b", "aXbX", false),
            ("é?", "éü", true),
            ("a?", "a", false),
            ("*.read?", "x.read1", true),
            ("*a*b*c", "xxaxxcxxb", false),
            ("a**", "a", true),
            ("***", "abc", true),
        ] {
            assert_eq!(matches_wildcard(pattern, text, None), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn h12_one_star_stops_at_a_separator_and_two_do_not() {
        for (pattern, text, expected) in [
            ("notes", "notes", true),
            ("notes", "note", false),
            ("status:*", "status:a", true),
            ("status:*", "status:", true),
            ("status:*", "status:a:b", false),
            ("status:**", "status:a:b", true),
            ("**", "", true),
            ("*:*", "a:b", true),
            ("*:*", "a", false),
            ("a*c", "abc", true),
            ("a*c", "a:c", false),
            ("a**c", "a:b:c", true),
            ("**:end", "a:b:end", true),
            ("**:*x:*", "a:b:yx:c", true),
            ("a?c", "abc", true),
            ("a?c", "a:c", false),
            ("ü*", "übung", true),
        ] {
            assert_eq!(matches_wildcard(pattern, text, Some(':')), expected, "{pattern} {text}");
        }
    }

    /// A brute-force matcher: slow, but obviously correct.
    fn brute_force(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['*', '*', rest @ ..], _) => (0..=text.len()).any(|end| brute_force(rest, &text[end..])),
            (['*', rest @ ..], _) => {
                let run = text.iter().take_while(|it| **it != ':').count();
                (0..=run).any(|end| brute_force(rest, &text[end..]))
            }
            (['?', rest @ ..], [found, text @ ..]) => *found != ':' && brute_force(rest, text),
            ([wanted, rest @ ..], [found, text @ ..]) => wanted == found && brute_force(rest, text),
            _ => false,
        }
    }

    #[test]
    fn h12_every_short_pattern_matches_like_brute_force() {
        let words = |alphabet: &[char], length: usize| -> Vec<Vec<char>> {
            let mut words = vec![vec![]];
            for start in 0.. {
                let Some(word) = words.get(start).filter(|it: &&Vec<char>| it.len() < length).cloned() else {
                    break;
                };
                words.extend(alphabet.iter().map(|it| [&word[..], &[*it]].concat()));
            }
            words
        };
        let texts = words(&['a', 'b', ':'], 4);
        for pattern in words(&['a', ':', '?', '*'], 5) {
            let pattern_text: String = pattern.iter().collect();
            for text in &texts {
                let expected = brute_force(&pattern, text);
                let text: String = text.iter().collect();
                assert_eq!(
                    matches_wildcard(&pattern_text, &text, Some(':')),
                    expected,
                    "{pattern_text} {text}"
                );
            }
        }
    }

    #[test]
    fn h12_a_hostile_text_takes_no_longer_than_any_other() {
        // Backtracking over 20 stars and 100,000 characters would never finish.
        let (pattern, text) = ("*a".repeat(20) + "b", "a".repeat(100_000));
        for separator in [None, Some(':')] {
            assert!(!matches_wildcard(&pattern, &text, separator));
            assert!(!matches_wildcard(&pattern.replace('*', "**"), &text, separator));
        }
    }
}
