//! YAML scalars: plain if every parser reads the same text back, otherwise double-quoted.

use std::fmt::Write as _;

use serde_json::Number;

/// The context of a scalar, which decides which characters need quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Block,
    Flow,
}

/// Writes text, quoted only if necessary.
pub(super) fn text(out: &mut String, text: &str, style: Style) {
    if is_plain(text, style) {
        out.push_str(text);
    } else {
        out.push_str(&double_quoted(text));
    }
}

/// Writes a number so that YAML 1.1 parsers accept it too: with a decimal point and a signed exponent.
pub(super) fn number(out: &mut String, number: &Number) {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else {
        out.push_str(&text);
        return;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    // Writing to a String cannot fail.
    let _ = write!(out, "{mantissa}{point}e{sign}{exponent}");
}

/// Returns text in double quotes, on one line.
pub fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if needs_escape(c) => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns `key: text` as an entry of a block mapping. Text of several lines becomes a literal block if possible.
pub fn block_entry(key: &str, value: &str) -> String {
    let mut entry = String::new();
    text(&mut entry, key, Style::Block);
    entry.push_str(": ");
    match literal_block(value, 2) {
        Some(block) => entry.push_str(&block),
        None => text(&mut entry, value, Style::Block),
    }
    entry.push('\n');
    entry
}

/// Returns text of several lines as a literal block with its header, without the last line break. Returns `None` if a
/// literal block would change the text.
pub(super) fn literal_block(text: &str, indent: usize) -> Option<String> {
    let is_readable = |c: char| c == '\n' || c == '\t' || !needs_escape(c);
    if !text.contains('\n') || text.starts_with(char::is_whitespace) || !text.chars().all(is_readable) {
        return None;
    }
    let (header, body) = match text.strip_suffix('\n') {
        None => ("|-", text),
        Some(body) if body.ends_with('\n') => ("|+", body),
        Some(body) => ("|", body),
    };
    let mut block = header.to_owned();
    for line in body.split('\n') {
        block.push('\n');
        if !line.is_empty() {
            let _ = write!(block, "{:indent$}{line}", "");
        }
    }
    Some(block)
}

/// Returns whether YAML considers a character non-printable, or YAML 1.1 a line break.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str, style: Style) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let is_valid_start = match first {
        '-' => text[1..].starts_with(char::is_alphabetic),
        c => !c.is_whitespace() && !"?:,[]{}#&*!|>'\"%@`".contains(c),
    };
    let is_split = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    // YAML 1.1 parsers also stop at a question mark.
    let breaks_flow = style == Style::Flow && text.contains([',', '[', ']', '{', '}', '?']);
    is_valid_start
        && !is_split
        && !breaks_flow
        && !text.ends_with(char::is_whitespace)
        && !text.chars().any(needs_escape)
        && !text.starts_with("...")
        && !is_ambiguous(text)
}

/// Returns whether a parser of YAML 1.1 or 1.2 might read a text as another type.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", "=", "<<", "none"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_special = [".inf", ".nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    is_word || is_special || is_numeric(unsigned, unsigned.len() < text.len())
}

/// Returns whether a text is, or might be read as, a number in any base, a version, a date or a time.
fn is_numeric(unsigned: &str, has_sign: bool) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    // Some parsers also read `+_1` and `._1` as numbers.
    let (digits, allows_underscore) = match unsigned.strip_prefix('.') {
        Some(fraction) => (fraction, true),
        None => (unsigned, has_sign),
    };
    let is_number_start = digits.starts_with(is_digit) || (allows_underscore && digits.starts_with('_'));
    if !is_number_start {
        return false;
    }
    let rest = unsigned.trim_start_matches(is_digit);
    let is_version = rest.strip_prefix('.').is_some_and(|it| it.starts_with(is_digit));
    is_version || unsigned.chars().all(|c| c.is_ascii_hexdigit() || "_.:+-xXoOtTzZ ".contains(c))
}
