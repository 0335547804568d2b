//! Finds the prose in source code: comments, and in Rust also string literals with a space in them.

/// A comment or a string literal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first line, from 1.
    pub(super) line: usize,
    /// The text between the marks. Line comments in a row are one piece.
    pub(super) text: String,
    pub(super) is_comment: bool,
}

/// Returns the comments and string literals of Rust code.
pub(super) fn rust(code: &str) -> Vec<Piece> {
    let mut scanner = Scanner::new(code);
    while let Some(first) = scanner.peek() {
        if scanner.starts_with("//") {
            scanner.line_comment();
        } else if scanner.starts_with("/*") {
            scanner.block_comment(true);
        } else if let Some(hashes) = scanner.raw_string_start() {
            scanner.raw_string(hashes);
        } else if first == '"' {
            scanner.string('"', true);
        } else if first == '\'' {
            scanner.character_or_lifetime();
        } else if is_identifier(first) {
            scanner.take_while(is_identifier);
        } else {
            scanner.next();
        }
    }
    scanner.pieces
}

/// Returns the comments of a style sheet.
pub(super) fn css(code: &str) -> Vec<Piece> {
    let mut scanner = Scanner::new(code);
    while let Some(first) = scanner.peek() {
        match first {
            '/' if scanner.starts_with("/*") => scanner.block_comment(false),
            '"' | '\'' => scanner.string(first, false),
            _ => drop(scanner.next()),
        }
    }
    scanner.pieces
}

/// Returns the comments of JavaScript.
pub(super) fn javascript(code: &str) -> Vec<Piece> {
    let mut scanner = Scanner::new(code);
    // The open braces of each `${…}` that the code is in; at 0 the template continues.
    let mut templates: Vec<usize> = Vec::new();
    // Whether a `/` would begin a regular expression.
    let mut expects_value = true;
    while let Some(first) = scanner.peek() {
        if scanner.starts_with("//") {
            scanner.line_comment();
            continue;
        }
        if scanner.starts_with("/*") {
            scanner.block_comment(false);
            continue;
        }
        match first {
            '"' | '\'' => scanner.string(first, false),
            '`' => {
                scanner.next();
                scanner.template(&mut templates);
            }
            '/' if expects_value => scanner.regular_expression(),
            '}' if templates.last() == Some(&0) => {
                scanner.next();
                templates.pop();
                scanner.template(&mut templates);
            }
            '{' | '}' => {
                if let Some(braces) = templates.last_mut() {
                    *braces = if first == '{' { *braces + 1 } else { *braces - 1 };
                }
                scanner.next();
            }
            _ if is_identifier(first) => {
                let word = scanner.take_while(is_identifier);
                expects_value = word == "return";
                continue;
            }
            _ => drop(scanner.next()),
        }
        if !first.is_whitespace() {
            expects_value = "(,=:[!&|?{};+-*%<>~^".contains(first);
        }
    }
    scanner.pieces
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    pieces: Vec<Piece>,
    /// The last line of a line comment that nothing follows, which the next one may continue.
    last_comment: Option<usize>,
}

impl<'a> Scanner<'a> {
    fn new(code: &'a str) -> Self {
        Self { rest: code, line: 1, pieces: Vec::new(), last_comment: None }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    fn next(&mut self) -> Option<char> {
        let first = self.peek()?;
        self.rest = &self.rest[first.len_utf8()..];
        if first == '\n' {
            self.line += 1;
        } else if !first.is_whitespace() {
            self.last_comment = None;
        }
        Some(first)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, is_part: fn(char) -> bool) -> &'a str {
        self.last_comment = None;
        self.take(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()))
    }

    fn add(&mut self, line: usize, text: &str, is_comment: bool) {
        self.pieces.push(Piece { line, text: text.to_owned(), is_comment });
    }

    fn line_comment(&mut self) {
        let line = self.line;
        let comment = self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        let text = comment.trim_start_matches('/').trim_start_matches('!');
        match self.pieces.last_mut() {
            Some(piece) if self.last_comment.is_some_and(|last| last + 1 == line) => {
                piece.text.push('\n');
                piece.text.push_str(text);
            }
            _ => self.add(line, text, true),
        }
        self.last_comment = Some(line);
    }

    fn block_comment(&mut self, nests: bool) {
        let line = self.line;
        let mut depth = 0;
        let mut end = 0;
        while end < self.rest.len() {
            let here = &self.rest[end..];
            if here.starts_with("/*") && (nests || depth == 0) {
                depth += 1;
                end += 2;
            } else if here.starts_with("*/") {
                depth -= 1;
                end += 2;
                if depth == 0 {
                    break;
                }
            } else {
                end += here.chars().next().map_or(1, char::len_utf8);
            }
        }
        let text = self.take(end);
        self.last_comment = None;
        self.add(line, text.trim_start_matches("/*").trim_end_matches("*/"), true);
    }

    /// Reads a literal with escapes; keeps it if asked to and if it has a space.
    fn string(&mut self, quote: char, is_kept: bool) {
        let line = self.line;
        let mut is_escaped = false;
        let inside = &self.rest[quote.len_utf8()..];
        let end = inside.find(|c| {
            let is_end = c == quote && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let end = end.unwrap_or(inside.len());
        self.last_comment = None;
        self.take(1);
        let text = self.take(end);
        self.take(1);
        if is_kept && text.contains(' ') {
            self.add(line, text, false);
        }
    }

    /// Returns the number of hashes if a raw string begins here.
    fn raw_string_start(&self) -> Option<usize> {
        let rest = self.rest.strip_prefix(['b', 'c']).unwrap_or(self.rest).strip_prefix('r')?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        rest[hashes..].starts_with('"').then_some(hashes)
    }

    fn raw_string(&mut self, hashes: usize) {
        let line = self.line;
        let start = self.rest.find('"').map_or(self.rest.len(), |quote| quote + 1);
        self.last_comment = None;
        self.take(start);
        let closing = format!("\"{}", "#".repeat(hashes));
        let text = self.take(self.rest.find(&closing).unwrap_or(self.rest.len()));
        self.take(closing.len());
        if text.contains(' ') {
            self.add(line, text, false);
        }
    }

    /// Reads `'a'`, `'\n'` or the quote of `'lifetime`.
    fn character_or_lifetime(&mut self) {
        let mut after = self.rest[1..].chars();
        match (after.next(), after.next()) {
            (Some('\\'), _) | (Some(_), Some('\'')) => self.string('\'', false),
            _ => drop(self.next()),
        }
    }

    /// Reads a template up to its end, or to the next `${`.
    fn template(&mut self, open: &mut Vec<usize>) {
        while let Some(first) = self.next() {
            match first {
                '\\' => drop(self.next()),
                '`' => return,
                '$' if self.peek() == Some('{') => {
                    self.next();
                    open.push(0);
                    return;
                }
                _ => {}
            }
        }
    }

    fn regular_expression(&mut self) {
        self.next();
        let mut is_in_class = false;
        while let Some(first) = self.next() {
            match first {
                '\\' => drop(self.next()),
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '/' if !is_in_class => return,
                // A division after all.
                '\n' => return,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(found: &[Piece]) -> Vec<(usize, &str)> {
        found.iter().map(|piece| (piece.line, piece.text.as_str())).collect()
    }

    #[test]
    fn rust_comments_and_strings_are_found() {
        let code = "//! One\n//! two.\n\nfn f<'a>(x: &'a str) -> char {\n    // Three\n    // four.\n    let y = 1; // Five.\n    \
            // Six.\n    g(\"a b\", 'c', '\\'', '\"', \"one_word\", b\"d e\"); /* seven /* eight */ nine */\n    \
            r#\"raw \"text\" here\"#\n}\n";
        assert_eq!(
            pieces(&rust(code)),
            [
                (1, " One\n two."),
                (5, " Three\n four."),
                (7, " Five.\n Six."),
                (9, "a b"),
                (9, "d e"),
                (9, " seven /* eight */ nine "),
                (10, "raw \"text\" here"),
            ]
        );
    }

    #[test]
    fn javascript_comments_are_found_outside_strings_templates_and_regular_expressions() {
        let code = "/** One */\nconst a = 'x // no'; // Two\nconst r = /[/\"]\\/\\/ no/.test(b) / 2; // Three\n\
            html`<a href=\"https://x\">${b && html`//no ${c}`} // no</a>`; /* four\n five */\n";
        assert_eq!(
            pieces(&javascript(code)),
            [(1, "* One "), (2, " Two"), (3, " Three"), (4, " four\n five ")]
        );
    }

    #[test]
    fn css_comments_are_found() {
        assert_eq!(
            pieces(&css("a { b: url(\"/* no */\") } /* One */\n/* two */")),
            [(1, " One "), (2, " two ")]
        );
    }
}
