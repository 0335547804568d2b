//! Writes text into Python code so that it can never become code.

use std::fmt::Write as _;

/// Writes a Python string literal.
pub(super) fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            // A fence around the code must not end inside a string.
            '`' => literal.push_str("\\x60"),
            c if is_invisible(c) => {
                // Writing to a String cannot fail.
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Writes a list of string literals.
pub(super) fn list_literal(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| string_literal(text)).collect::<Vec<_>>().join(", "))
}

/// Writes a comment of as many lines as the text has.
pub(super) fn comment(text: &str) -> String {
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    let clean = |line: &str| line.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect::<String>();
    lines.map(|line| format!("# {}", clean(line).replace('`', "'"))).collect::<Vec<_>>().join("\n")
}

/// Control characters, separators and marks that change the direction of text or have no width.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_literal() {
        assert_eq!(string_literal("a\"b\\c\nd`e"), r#""a\"b\\c\nd\x60e""#);
        assert_eq!(string_literal("\u{0}\u{2028}\u{202e}"), r#""\U00000000\U00002028\U0000202e""#);
        assert_eq!(string_literal("日本語 😀"), "\"日本語 😀\"");
        assert_eq!(list_literal(&["a".into(), "]".into()]), r#"["a", "]"]"#);
    }

    #[test]
    fn text_cannot_leave_its_comment() {
        assert_eq!(comment("one\r\nimport os\u{2028}```x"), "# one\n# \n# import os\n# '''x");
    }
}
