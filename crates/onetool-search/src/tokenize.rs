//! Tokenization of documents and queries.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::stop_words::is_stop_word;

/// Maximum length of a token, in characters; longer ones, such as base64 data, are truncated.
const MAX_TOKEN_CHARS: usize = 64;

/// A normalized word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// The stem.
    pub(crate) text: String,
    /// The whole word, in lowercase.
    pub(crate) word: String,
    pub(crate) is_stop_word: bool,
}

/// Returns the tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let text = normalize(text);
    let mut tokens = Vec::new();
    for piece in pieces(&text) {
        piece_tokens(piece, &mut tokens);
    }
    tokens
}

/// Appends the tokens of one piece: `YouTube` becomes you, tube and youtube.
pub(crate) fn piece_tokens(piece: &str, tokens: &mut Vec<Token>) {
    if piece.chars().next().is_some_and(is_unspaced) {
        return unspaced_tokens(piece, tokens);
    }
    let mut start = 0;
    for end in word_boundaries(piece) {
        tokens.push(token(&piece[start..end]));
        start = end;
    }
    if start > 0 {
        tokens.push(token(&piece[start..]));
    }
    tokens.push(token(piece));
}

fn token(word: &str) -> Token {
    let word: String = word.chars().flat_map(char::to_lowercase).take(MAX_TOKEN_CHARS).collect();
    if is_stop_word(&word) {
        return Token { text: word.clone(), word, is_stop_word: true };
    }
    let algorithm = match word.chars().next() {
        Some('\u{400}'..='\u{52f}') => Algorithm::Russian,
        Some('\u{370}'..='\u{3ff}') => Algorithm::Greek,
        Some('\u{600}'..='\u{6ff}') => Algorithm::Arabic,
        _ => Algorithm::English,
    };
    let stem = Stemmer::create(algorithm).stem(&word).into_owned();
    // A stemmer may remove the whole word if it looks like a suffix.
    Token { text: if stem.is_empty() { word.clone() } else { stem }, word, is_stop_word: false }
}

/// Normalizes characters (NFKC), and removes accents from Latin letters.
pub(crate) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let fold = |c: char| match c {
        'ё' => 'е',
        'Ё' => 'Е',
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => std::iter::once(c).nfd().next().unwrap_or(c),
        other => other,
    };
    Cow::Owned(text.nfkc().map(fold).collect())
}

/// Splits a normalized text at characters that are not letters, digits or combining marks, and where a script without
/// spaces between words begins or ends.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c));
    text.split(move |c| !is_word(c)).flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let first = is_unspaced(rest.chars().next()?);
            let end = rest.char_indices().find(|(_, c)| is_unspaced(*c) != first && !is_combining_mark(*c));
            let (piece, tail) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
            rest = tail;
            Some(piece)
        })
    })
}

/// Returns whether a character is Chinese, Japanese, Korean, Thai, Lao, Burmese or Khmer: scripts without spaces between
/// words, or with endings that none of our stemmers supports.
fn is_unspaced(c: char) -> bool {
    c >= '\u{e00}'
        && matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Appends every character and every pair of adjacent characters.
fn unspaced_tokens(run: &str, tokens: &mut Vec<Token>) {
    let mut previous = None;
    for (at, c) in run.char_indices() {
        let end = at + c.len_utf8();
        for start in [previous, Some(at)].into_iter().flatten() {
            let text = run[start..end].to_owned();
            tokens.push(Token { word: text.clone(), text, is_stop_word: false });
        }
        previous = Some(at);
    }
}

/// Returns where words begin inside a piece such as `fooBar`, `HTTPServer` or `area51`.
fn word_boundaries(piece: &str) -> impl Iterator<Item = usize> {
    let mut characters = piece.char_indices().peekable();
    let mut previous = None;
    std::iter::from_fn(move || {
        loop {
            let (at, c) = characters.next()?;
            let next_is_lower = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let is_boundary = previous.is_some_and(|previous: char| {
                previous.is_numeric() != c.is_numeric()
                    || c.is_uppercase()
                        && (previous.is_lowercase() || previous.is_uppercase() && next_is_lower)
            });
            previous = Some(c);
            if is_boundary {
                return Some(at);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_are_split_folded_and_stemmed() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("🦀 \u{0} – !", &[]),
            ("snake_case.and-dots", &["snake", "case", "and", "dot"]),
            ("YouTube", &["you", "tube", "youtub"]),
            ("parseHTTPServer", &["pars", "http", "server", "parsehttpserv"]),
            ("HTML", &["html"]),
            ("v2beta", &["v", "2", "beta", "v2beta"]),
            ("searching searches", &["search", "search"]),
            ("user's", &["user", "s"]),
            ("Café ＡＢＣ ﬁle", &["cafe", "abc", "file"]),
            ("ещё файлы файлов", &["ещ", "файл", "файл"]),
            ("天气mcp", &["天", "天气", "气", "mcp"]),
            ("हिन्दी", &["हिन्दी"]),
        ];
        for (text, expected) in cases {
            assert_eq!(texts(text), *expected, "{text}");
        }
    }

    #[test]
    fn long_tokens_are_truncated() {
        assert_eq!(texts(&"x".repeat(1000)), ["x".repeat(64)]);
    }

    #[test]
    fn stop_words_are_marked() {
        let marked: Vec<bool> = tokens("please list THE files").iter().map(|it| it.is_stop_word).collect();
        assert_eq!(marked, [true, false, true, false]);
    }
}
