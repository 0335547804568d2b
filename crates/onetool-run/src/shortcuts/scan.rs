//! A scanner for rendered Python code that writes each value as its position requires.

use std::fmt::Write as _;

use serde_json::Value;

/// A value to be written into code.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filling {
    /// The text for literals and comments, not escaped.
    pub(super) text: String,
    /// The data for code outside of literals.
    pub(super) data: Value,
}

/// A value that cannot be written at its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlaceError {
    #[error("a raw string has a backslash before a parameter; use a plain string instead")]
    RawBackslash,
    #[error("'{0}' cannot be a format specification")]
    FormatSpec(String),
    #[error("invalid placeholder in the rendered code")]
    Mark,
}

/// Replaces each placeholder `{mark}{index}{mark}` in the code with its value.
pub(super) fn write_fillings(code: &str, mark: char, fillings: &[Filling]) -> Result<String, PlaceError> {
    let mut scanner = Scanner {
        code: code.chars().collect(),
        at: 0,
        out: String::with_capacity(code.len()),
        frames: Vec::new(),
        is_comment: false,
        ends_in_value: false,
    };
    while let Some(c) = scanner.peek(0) {
        if c == mark {
            let index = scanner.read_mark(mark);
            let filling = index.and_then(|index| fillings.get(index)).ok_or(PlaceError::Mark)?;
            scanner.write(filling)?;
        } else {
            scanner.step(c, mark)?;
        }
    }
    Ok(scanner.out)
}

/// A construct that the scanner is inside of. Without a frame it is in plain code.
#[derive(Debug, Clone)]
enum Frame {
    Literal(Literal),
    /// The `{…}` of an f-string, with the number of open brackets in it.
    Field {
        depth: usize,
        is_spec: bool,
    },
}

#[derive(Debug, Clone)]
struct Literal {
    /// The letters before the opening quote.
    prefix: String,
    quote: char,
    is_triple: bool,
}

impl Literal {
    fn has(&self, letters: [char; 2]) -> bool {
        self.prefix.to_ascii_lowercase().contains(letters)
    }

    fn is_raw(&self) -> bool {
        self.has(['r', 'r'])
    }

    fn is_bytes(&self) -> bool {
        self.has(['b', 'b'])
    }

    fn is_format(&self) -> bool {
        self.has(['f', 't'])
    }

    fn quotes(&self) -> String {
        self.quote.to_string().repeat(if self.is_triple { 3 } else { 1 })
    }
}

struct Scanner {
    code: Vec<char>,
    at: usize,
    out: String,
    frames: Vec<Frame>,
    is_comment: bool,
    /// Whether the output ends with a value written as code.
    ends_in_value: bool,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.code.get(self.at + ahead).copied()
    }

    fn copy(&mut self, count: usize) {
        let end = (self.at + count).min(self.code.len());
        self.out.extend(&self.code[self.at..end]);
        self.at = end;
        self.ends_in_value = false;
    }

    fn read_mark(&mut self, mark: char) -> Option<usize> {
        let length = self.code[self.at + 1..].iter().position(|c| *c == mark)?;
        let digits: String = self.code[self.at + 1..][..length].iter().collect();
        self.at += length + 2;
        digits.parse().ok()
    }

    /// Copies the next character of the code, or a sequence such as an escape.
    fn step(&mut self, c: char, mark: char) -> Result<(), PlaceError> {
        if self.is_comment {
            self.is_comment = c != '\n';
            self.copy(1);
            return Ok(());
        }
        match self.frames.last().cloned() {
            Some(Frame::Literal(literal)) => self.step_in_literal(c, &literal, mark),
            Some(Frame::Field { is_spec: true, .. }) => {
                match c {
                    '{' => self.frames.push(Frame::Field { depth: 0, is_spec: false }),
                    '}' => drop(self.frames.pop()),
                    _ => {}
                }
                self.copy(1);
                Ok(())
            }
            Some(Frame::Field { .. }) | None => {
                self.step_in_code(c);
                Ok(())
            }
        }
    }

    fn step_in_literal(&mut self, c: char, literal: &Literal, mark: char) -> Result<(), PlaceError> {
        let quotes_ahead = (0..3).take_while(|ahead| self.peek(*ahead) == Some(literal.quote)).count();
        let next = self.peek(1);
        match c {
            '\\' if next == Some(mark) && literal.is_raw() => return Err(PlaceError::RawBackslash),
            // The backslash must not escape the first character of the value, so it is doubled.
            '\\' if next == Some(mark) => {
                self.copy(1);
                self.out.push('\\');
            }
            // In an f-string, a field can follow a backslash.
            '\\' if next == Some('{') && literal.is_format() => self.copy(1),
            '\\' if next == Some('N') && self.peek(2) == Some('{') && !literal.is_raw() => self.copy(3),
            '\\' => self.copy(2),
            _ if quotes_ahead == 3 && literal.is_triple => self.leave(3),
            _ if quotes_ahead > 0 && !literal.is_triple => self.leave(1),
            // The literal is not closed, so Python rejects the code.
            '\n' if !literal.is_triple => self.leave(1),
            '{' | '}' if literal.is_format() && next == Some(c) => self.copy(2),
            '{' if literal.is_format() => {
                self.frames.push(Frame::Field { depth: 0, is_spec: false });
                self.copy(1);
            }
            _ => self.copy(1),
        }
        Ok(())
    }

    fn leave(&mut self, count: usize) {
        self.frames.pop();
        self.copy(count);
    }

    fn step_in_code(&mut self, c: char) {
        match c {
            '#' => {
                self.is_comment = true;
                self.copy(1);
            }
            '"' | '\'' => self.enter_literal(c),
            _ => {
                self.step_in_field(c);
                self.copy(1);
            }
        }
    }

    fn enter_literal(&mut self, quote: char) {
        let is_triple = (1..3).all(|ahead| self.peek(ahead) == Some(quote));
        let before = &self.code[..self.at];
        let start = before.iter().rposition(|c| !is_word(*c)).map_or(0, |index| index + 1);
        let word: String = before[start..].iter().collect();
        let is_prefix = ["r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"]
            .contains(&&*word.to_ascii_lowercase());
        let prefix = if is_prefix { word } else { String::new() };
        if self.ends_in_value {
            self.out.push(' ');
        }
        self.frames.push(Frame::Literal(Literal { prefix, quote, is_triple }));
        self.copy(if is_triple { 3 } else { 1 });
    }

    /// Tracks brackets inside a field of an f-string.
    fn step_in_field(&mut self, c: char) {
        let Some(Frame::Field { depth, is_spec }) = self.frames.last_mut() else { return };
        match c {
            '(' | '[' | '{' => *depth += 1,
            '}' if *depth == 0 => drop(self.frames.pop()),
            ')' | ']' | '}' => *depth = depth.saturating_sub(1),
            ':' if *depth == 0 => *is_spec = true,
            _ => {}
        }
    }

    /// Writes a value at the current position.
    fn write(&mut self, filling: &Filling) -> Result<(), PlaceError> {
        if self.is_comment {
            let clean = filling.text.chars().map(|c| if c.is_control() { ' ' } else { c });
            self.out.extend(clean);
            return Ok(());
        }
        match self.frames.last().cloned() {
            Some(Frame::Literal(literal)) if literal.is_raw() => self.write_in_raw(&literal, &filling.text),
            Some(Frame::Literal(literal)) => escape(&mut self.out, &filling.text, &literal),
            Some(Frame::Field { is_spec: true, .. }) => {
                let is_invalid = |c: char| c.is_control() || "{}\\'\"".contains(c);
                if filling.text.contains(is_invalid) {
                    return Err(PlaceError::FormatSpec(filling.text.clone()));
                }
                self.out.push_str(&filling.text);
            }
            Some(Frame::Field { .. }) | None => self.write_as_code(&filling.data),
        }
        Ok(())
    }

    /// Writes a value into a raw literal. Raw literals have no escapes, so if the value needs one, the literal is split
    /// and the value written as a plain literal in between; Python concatenates the parts.
    fn write_in_raw(&mut self, literal: &Literal, text: &str) {
        let needs_escape =
            |c: char| c == literal.quote || c.is_control() || (literal.is_bytes() && !c.is_ascii());
        if !text.contains(needs_escape) && !text.ends_with('\\') {
            let text = if literal.is_format() { doubled_braces(text) } else { text.to_owned() };
            self.out.push_str(&text);
            return;
        }
        let prefix = if literal.is_bytes() { "b" } else { "" };
        let plain = Literal { prefix: prefix.to_owned(), quote: literal.quote, is_triple: false };
        self.out.extend([&literal.quotes(), " ", prefix, &plain.quotes()]);
        escape(&mut self.out, text, &plain);
        self.out.extend([&plain.quotes(), " ", &literal.prefix, &literal.quotes()]);
    }

    fn write_as_code(&mut self, data: &Value) {
        // Use a different quote than the enclosing f-string, for readers and for older parsers.
        let enclosing = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Literal(literal) => Some(literal.quote),
            Frame::Field { .. } => None,
        });
        let quote = if enclosing == Some('"') { '\'' } else { '"' };
        let text = python_literal(data, quote);
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        // Separate the value from a prefix (`f`), a quote or another value before it, which would become part of it.
        let touches = |c: char| c == '"' || c == '\'' || (!is_number && is_word(c));
        if self.ends_in_value || self.out.ends_with(touches) {
            self.out.push(' ');
        }
        self.out.push_str(&text);
        self.ends_in_value = true;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn doubled_braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Writes text into a literal, escaped.
fn escape(out: &mut String, text: &str, literal: &Literal) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == literal.quote => out.extend(['\\', c]),
            '{' | '}' if literal.is_format() => out.extend([c, c]),
            c if c.is_ascii_control() || (literal.is_bytes() && !c.is_ascii()) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// Returns a value as a Python literal.
fn python_literal(value: &Value, quote: char) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let literal = Literal { prefix: String::new(), quote, is_triple: false };
            let mut written = quote.to_string();
            escape(&mut written, text, &literal);
            written.push(quote);
            written
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|it| python_literal(it, quote)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                let key = python_literal(&Value::String(key.clone()), quote);
                format!("{key}: {}", python_literal(value, quote))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
