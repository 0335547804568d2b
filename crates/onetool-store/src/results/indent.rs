//! JSON over lines, also where it comes in pieces. Strings and numbers stay as they were written, to the last digit.

const INDENT: &str = "  ";

/// How deep JSON may be nested; serde_json reads no deeper.
pub(super) const MAX_DEPTH: usize = 127;

/// Spreads valid JSON over lines, piece by piece.
///
/// What is nested too deep is passed on as it is from there on, so that indentation cannot grow beyond measure.
#[derive(Default)]
pub(super) struct Indenter {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The last token opened an object or array; whether its line is broken depends on the next one.
    has_opened: bool,
    is_given_up: bool,
}

impl Indenter {
    /// Adds a piece; tokens may be cut by its end.
    pub(super) fn push(&mut self, mut json: &str, out: &mut String) {
        while !json.is_empty() {
            json = if self.is_given_up {
                out.push_str(json);
                ""
            } else if self.is_in_string {
                self.string(json, out)
            } else {
                self.token(json, out)
            };
        }
    }

    /// Copies a string up to its end or its next escape; returns what follows.
    fn string<'a>(&mut self, json: &'a str, out: &mut String) -> &'a str {
        let end = if self.is_escaped {
            self.is_escaped = false;
            json.chars().next().map_or(0, char::len_utf8)
        } else if let Some(at) = json.bytes().position(|byte| matches!(byte, b'"' | b'\\')) {
            self.is_escaped = json.as_bytes()[at] == b'\\';
            self.is_in_string = self.is_escaped;
            at + 1
        } else {
            json.len()
        };
        out.push_str(&json[..end]);
        &json[end..]
    }

    fn token<'a>(&mut self, json: &'a str, out: &mut String) -> &'a str {
        let mut length = 1;
        match json.as_bytes()[0] {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            mark @ (b'{' | b'[') => {
                self.begin(out);
                out.push(char::from(mark));
                self.depth += 1;
                self.has_opened = true;
                self.is_given_up = self.depth > MAX_DEPTH;
            }
            mark @ (b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                if !std::mem::take(&mut self.has_opened) {
                    self.break_line(out);
                }
                out.push(char::from(mark));
            }
            b',' => {
                out.push(',');
                self.break_line(out);
            }
            b':' => out.push_str(": "),
            b'"' => {
                self.begin(out);
                out.push('"');
                self.is_in_string = true;
            }
            _ => {
                self.begin(out);
                let is_end =
                    |c: char| matches!(c, ',' | '}' | ']' | ':' | '{' | '[' | '"') || c.is_whitespace();
                // Broken JSON may begin with a space of another kind.
                length = json
                    .find(is_end)
                    .unwrap_or(json.len())
                    .max(json.chars().next().map_or(1, char::len_utf8));
                out.push_str(&json[..length]);
            }
        }
        &json[length..]
    }

    /// Begins a token inside what was just opened on a separate line.
    fn begin(&mut self, out: &mut String) {
        if std::mem::take(&mut self.has_opened) {
            self.break_line(out);
        }
    }

    fn break_line(&self, out: &mut String) {
        out.push('\n');
        for _ in 0..self.depth {
            out.push_str(INDENT);
        }
    }
}

/// Spreads a whole text of valid JSON over lines.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    Indenter::default().push(json.trim(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o6_pieces_give_the_same_lines_wherever_they_are_cut() {
        let json = r#"{"a":[1,-2.50e3,{}],"é\"\\":"x, [y] {z}: \u00e9","b":{"c":[],"d":[[true,null]]}}"#;
        let whole = indented(json);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&whole).unwrap(),
            serde_json::from_str::<serde_json::Value>(json).unwrap()
        );
        assert_eq!(whole.lines().count(), 17, "{whole}");
        for cut in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
            let (mut indenter, mut out) = (Indenter::default(), String::new());
            indenter.push(&json[..cut], &mut out);
            indenter.push(&json[cut..], &mut out);
            assert_eq!(out, whole, "cut at {cut}");
        }
    }

    #[test]
    fn o6_what_is_nested_too_deep_does_not_grow() {
        let deep = "[".repeat(100_000);
        assert!(indented(&deep).len() < 200_000);
        for broken in ["}}}]", "\u{a0}x", "\"", ",,::", ""] {
            let _ = indented(broken);
        }
    }
}
