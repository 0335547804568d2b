//! YAML scalars: plain where every parser reads the same text back, in double quotes where not.

use std::fmt::Write as _;

use serde_json::Number;

/// Where a scalar stands, which decides what it may hold without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Block,
    Flow,
}

/// Writes a text, in quotes only if it needs them.
pub(super) fn text(out: &mut String, text: &str, style: Style) {
    if is_plain(text, style) {
        out.push_str(text);
    } else {
        out.push_str(&double_quoted(text));
    }
}

/// Writes a number such that parsers of YAML 1.1 read one, too: they want a point and the sign of the exponent.
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

/// Writes a text in double quotes, on one line.
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

/// Writes `key: text` as lines of a block map: several lines as a literal block where that keeps the text.
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

/// Writes a text of several lines as a literal block, header first and without the last line break, if it can be one.
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

/// Characters that YAML calls not printable, and line breaks of YAML 1.1.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str, style: Style) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let begins_well = match first {
        '-' => text[1..].starts_with(char::is_alphabetic),
        c => !c.is_whitespace() && !"?:,[]{}#&*!|>'\"%@`".contains(c),
    };
    let is_split = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    // Parsers of YAML 1.1 stop at a question mark, too.
    let leaves_flow = style == Style::Flow && text.contains([',', '[', ']', '{', '}', '?']);
    begins_well
        && !is_split
        && !leaves_flow
        && !text.ends_with(char::is_whitespace)
        && !text.chars().any(needs_escape)
        && !text.starts_with("...")
        && !reads_as_other(text)
}

/// Tells whether some parser, of YAML 1.1 or 1.2, could take a text for something else than text.
fn reads_as_other(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", "=", "<<", "none"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_special = [".inf", ".nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    is_word || is_special || is_numeric(unsigned, unsigned.len() < text.len())
}

/// Tells whether a text is a number in any base, a version, a date or a time, or could be taken for one.
fn is_numeric(unsigned: &str, has_sign: bool) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    // Some parsers take `+_1` and `._1` for numbers, too.
    let (digits, takes_underscore) = match unsigned.strip_prefix('.') {
        Some(fraction) => (fraction, true),
        None => (unsigned, has_sign),
    };
    let begins_so = digits.starts_with(is_digit) || (takes_underscore && digits.starts_with('_'));
    if !begins_so {
        return false;
    }
    let rest = unsigned.trim_start_matches(is_digit);
    let is_version = rest.strip_prefix('.').is_some_and(|it| it.starts_with(is_digit));
    is_version || unsigned.chars().all(|c| c.is_ascii_hexdigit() || "_.:+-xXoOtTzZ ".contains(c))
}
