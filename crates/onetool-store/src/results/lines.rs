//! The lines of a stored result: as they were written, but a long one is split, so that every result can be paged.

use std::ops::Range;

/// Longest line, in characters. A longer one is split into pieces of this length, and each piece counts as a line.
pub(super) const LINE_MAX: usize = 1000;

/// Returns the lines of a text, long ones in pieces.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| pieces(line).map(|piece| &line[piece]))
}

/// Returns where the pieces of one line begin and end; an empty line is one piece.
pub(super) fn pieces(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let begin = start?;
        let end = piece_end(&line[begin..]).map(|length| begin + length);
        start = end;
        Some(begin..end.unwrap_or(line.len()))
    })
}

/// Returns whether a line of a text is split.
pub(super) fn has_long(text: &str) -> bool {
    text.lines().any(|line| piece_end(line).is_some())
}

/// Returns where the first piece of a text ends, if there is more after it.
fn piece_end(text: &str) -> Option<usize> {
    // A character has at least one byte, so most lines need not be counted.
    if text.len() <= LINE_MAX {
        return None;
    }
    text.char_indices().nth(LINE_MAX).map(|(at, _)| at)
}

/// Returns the end of the last whole piece in the beginning of a line that does not end there.
pub(super) fn last_cut(beginning: &str) -> Option<usize> {
    pieces(beginning).last().map(|piece| piece.start).filter(|end| *end > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_long_lines_are_split_by_characters_and_nothing_is_lost() {
        let long = "é".repeat(2 * LINE_MAX + 1);
        let exact = "x".repeat(LINE_MAX);
        let text = format!("a\n\n{long}\n{exact}\r\nz");
        let found: Vec<&str> = lines(&text).collect();
        let lengths: Vec<usize> = found.iter().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, [1, 0, LINE_MAX, LINE_MAX, 1, LINE_MAX, 1]);
        assert_eq!(found[2..5].concat(), long);
        assert!(has_long(&text) && !has_long(&exact) && !has_long(""));
        assert_eq!(lines("").count(), 0);
        assert_eq!(last_cut(&long), Some(4 * LINE_MAX));
        assert_eq!(last_cut(&exact), None);
    }
}
