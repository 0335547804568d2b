//! Checks the nesting of brackets without a parser.

/// Maximum nesting of brackets, the same as in CPython.
const MAX_NESTING: usize = 200;

/// Returns whether brackets are nested too deeply for a recursive parser. Ignores strings and comments.
pub(super) fn is_too_deep(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > MAX_NESTING {
                    return true;
                }
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' => at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at - 1),
            quote @ (b'\'' | b'"') => at = end_of_string(bytes, at, quote),
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns the index of the last byte of the string that starts at `at`.
fn end_of_string(bytes: &[u8], at: usize, quote: u8) -> usize {
    let is_triple = bytes[at..].starts_with(&[quote; 3]);
    let mut at = at + if is_triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !is_triple => return at,
            byte if byte == quote && !is_triple => return at,
            byte if byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 2,
            _ => {}
        }
        at += 1;
    }
    at
}
