//! Splits prose into words, without code, quotations, links and placeholders.

/// How the text marks what is not prose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// Markdown: in pages and comments.
    Markdown,
    /// A string literal, with escapes and `{placeholders}`.
    Literal,
}

/// A word in lowercase with its line. Anything that separates words in a sentence is the word `.`.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
}

/// What is skipped, from its opening to its closing mark; it may continue on the next line.
const SKIPPED: [(&str, &str); 5] = [("``", "``"), ("`", "`"), ("](", ")"), ("<", ">"), ("\"", "\"")];
const SKIPPED_IN_LITERALS: [(&str, &str); 4] = [("`", "`"), ("{", "}"), ("<", ">"), ("\\\"", "\\\"")];

/// Returns the words of a text that begins on the given line.
pub(super) fn words(text: &str, first_line: usize, markup: Markup) -> Vec<Word> {
    let mut reader = Reader { words: Vec::new(), closing: None, markup, line: first_line };
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        reader.line = first_line + index;
        let trimmed = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            reader.separate();
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if trimmed.is_empty() {
            // The end of a paragraph ends everything that was opened in it.
            reader.closing = None;
            reader.separate();
        }
        reader.read_line(line);
    }
    reader.separate();
    reader.words
}

struct Reader {
    words: Vec<Word>,
    /// The mark that ends what is being skipped.
    closing: Option<&'static str>,
    markup: Markup,
    line: usize,
}

impl Reader {
    fn separate(&mut self) {
        self.words.push(Word { text: ".".to_owned(), line: self.line });
    }

    fn read_line(&mut self, line: &str) {
        let skipped: &[(&str, &str)] =
            if self.markup == Markup::Markdown { &SKIPPED } else { &SKIPPED_IN_LITERALS };
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(end) = self.closing {
                let Some(at) = rest.find(end) else { return };
                rest = &rest[at + end.len()..];
                self.closing = None;
                self.separate();
            } else if let Some((open, end)) = skipped.iter().find(|(open, _)| rest.starts_with(open)) {
                rest = &rest[open.len()..];
                self.closing = Some(end);
            } else if first == '\\' && self.markup == Markup::Literal {
                // An escape such as `\n`, or the end of the line.
                let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
                rest = &rest[1 + escaped..];
                if escaped > 0 {
                    self.separate();
                }
            } else if first.is_alphanumeric() {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let text = rest[..end].trim_end_matches(['\'', '’']).to_lowercase();
                self.words.push(Word { text, line: self.line });
                rest = &rest[end..];
            } else {
                if !first.is_whitespace() && !matches!(first, '*' | '_') {
                    self.separate();
                }
                rest = &rest[first.len_utf8()..];
            }
        }
    }
}
