//! Embeds text in Python code so that it is never executed.

use std::fmt::Write as _;

/// Returns a Python string literal.
pub(super) fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            // A backtick could end the fence around the code.
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

/// Returns a Python list of string literals.
pub(super) fn list_literal(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| string_literal(text)).collect::<Vec<_>>().join(", "))
}

/// Returns a Python comment with the lines of the text.
pub(super) fn comment(text: &str) -> String {
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    let clean = |line: &str| line.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect::<String>();
    lines.map(|line| format!("# {}", clean(line).replace('`', "'"))).collect::<Vec<_>>().join("\n")
}

/// Returns whether this is a control character, a line separator, or a mark without width or that changes the text
/// direction.
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
