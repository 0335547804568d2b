//! Patterns with wildcards.

/// Returns whether a text matches a pattern with `*` (any characters, or none) and `?` (one character).
///
/// With a separator, neither of them matches it, and `**` matches anything. The work is at most the length of the
/// pattern times the length of the text, whatever they are.
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
    // Whether the text so far can end before each of the pieces, or after the last.
    let mut reached = vec![false; pieces.len() + 1];
    reached[0] = true;
    skip_runs(&pieces, &mut reached);
    for found in text.chars() {
        // From the last to the first, so that a piece is asked for what the text before this character has reached.
        for index in (0..=pieces.len()).rev() {
            let stays = pieces.get(index).is_some_and(|piece| piece.repeats_over(found, separator));
            let moves = index > 0 && reached[index - 1] && pieces[index - 1].takes(found, separator);
            reached[index] = (reached[index] && stays) || moves;
        }
        skip_runs(&pieces, &mut reached);
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[pieces.len()]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Exactly(char),
    One,
    Run,
    Anything,
}

impl Piece {
    /// Returns whether the piece matches this character and is then over.
    fn takes(self, found: char, separator: Option<char>) -> bool {
        match self {
            Self::Exactly(wanted) => wanted == found,
            Self::One => Some(found) != separator,
            Self::Run | Self::Anything => false,
        }
    }

    /// Returns whether the piece matches this character and may match more.
    fn repeats_over(self, found: char, separator: Option<char>) -> bool {
        match self {
            Self::Exactly(_) | Self::One => false,
            Self::Run => Some(found) != separator,
            Self::Anything => true,
        }
    }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut characters = pattern.chars().peekable();
    let mut pieces = Vec::new();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '*' if characters.next_if_eq(&'*').is_some() => Piece::Anything,
            '*' => Piece::Run,
            '?' => Piece::One,
            character => Piece::Exactly(character),
        });
    }
    pieces
}

/// Goes past pieces that may match nothing.
fn skip_runs(pieces: &[Piece], reached: &mut [bool]) {
    for (index, piece) in pieces.iter().enumerate() {
        reached[index + 1] |= reached[index] && matches!(piece, Piece::Run | Piece::Anything);
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

    /// A matcher that tries every way: slow, and easy to believe.
    fn tries(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['*', '*', rest @ ..], _) => (0..=text.len()).any(|end| tries(rest, &text[end..])),
            (['*', rest @ ..], _) => {
                let run = text.iter().take_while(|it| **it != ':').count();
                (0..=run).any(|end| tries(rest, &text[end..]))
            }
            (['?', rest @ ..], [found, text @ ..]) => *found != ':' && tries(rest, text),
            ([wanted, rest @ ..], [found, text @ ..]) => wanted == found && tries(rest, text),
            _ => false,
        }
    }

    #[test]
    fn h12_every_short_pattern_matches_what_trying_every_way_does() {
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
            let written: String = pattern.iter().collect();
            for text in &texts {
                let expected = tries(&pattern, text);
                let text: String = text.iter().collect();
                assert_eq!(matches_wildcard(&written, &text, Some(':')), expected, "{written} {text}");
            }
        }
    }

    #[test]
    fn h12_a_hostile_text_takes_no_longer_than_any_other() {
        // Trying every way to share 100,000 characters between 20 stars would not end.
        let (pattern, text) = ("*a".repeat(20) + "b", "a".repeat(100_000));
        for separator in [None, Some(':')] {
            assert!(!matches_wildcard(&pattern, &text, separator));
            assert!(!matches_wildcard(&pattern.replace('*', "**"), &text, separator));
        }
    }
}
