//! Extraction of Python code from a command: trigger words, fences and indentation are removed.

use std::ops::Range;

/// Prefixes that agents put before code, longest first.
const TRIGGERS: [&str; 5] = ["mcp__onetool__run", "__onetool__run", "__onetool", "__ot__run", "__ot"];

/// Extracts the code from a command: removes trigger words, fences, backticks and common indentation. String literals
/// are never changed.
pub(crate) fn extract_code(command: &str) -> String {
    let mut text = command.trim_matches(['\n', '\r', '\u{feff}']);
    let mut had_trigger = false;
    loop {
        if !had_trigger && let Some(rest) = without_trigger(text.trim_start()) {
            had_trigger = true;
            match inner_command(rest) {
                Some(inner) => return extract_inner_code(&inner),
                None => text = rest.trim_start_matches(['\n', '\r']),
            }
            continue;
        }
        match unfenced(text).or_else(|| without_backticks(text)) {
            Some(inner) => text = inner,
            None => return dedent(text),
        }
    }
}

/// Extracts the code from the command inside `mcp__onetool__run(command='…')`, without looking for another trigger.
fn extract_inner_code(command: &str) -> String {
    let text = command.trim_matches(['\n', '\r']);
    dedent(unfenced(text).or_else(|| without_backticks(text)).unwrap_or(text))
}

fn without_trigger(text: &str) -> Option<&str> {
    let rest = TRIGGERS.iter().find_map(|trigger| text.strip_prefix(trigger))?;
    let ends_a_word = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    // `__ot.x` and `__ot = 1` are code.
    let is_code = rest.starts_with(['.', '=', '[']) || rest.trim_start().starts_with('=');
    (ends_a_word && !is_code).then_some(rest)
}

/// Parses `(command='…')` if nothing else follows.
fn inner_command(rest: &str) -> Option<String> {
    let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    let literal = inner.strip_prefix("command")?.trim_start().strip_prefix('=')?;
    super::literal::parse_string(literal.trim())
}

/// Returns the text between a first line that opens a fence and a last line that closes it.
fn unfenced(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let fence_char = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let fence = &trimmed[..trimmed.len() - trimmed.trim_start_matches(fence_char).len()];
    if fence.len() < 3 {
        return None;
    }
    let (first, body) = trimmed[fence.len()..].split_once('\n')?;
    let is_language = first.trim().chars().all(|c| c.is_alphanumeric() || "+-_.#".contains(c));
    let (body, last) = match body.rsplit_once('\n') {
        Some((body, last)) => (body, last),
        None => ("", body),
    };
    let closes = last.trim().len() >= fence.len() && last.trim().chars().all(|c| c == fence_char);
    (is_language && closes).then_some(body)
}

fn without_backticks(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let width = trimmed.len() - trimmed.trim_start_matches('`').len();
    let inner = trimmed.strip_prefix(&trimmed[..width])?.strip_suffix(&trimmed[..width])?;
    (width > 0 && !inner.is_empty() && !inner.contains('`')).then_some(inner)
}

/// Removes the indentation that all lines share. Lines that begin inside a string literal are ignored and not changed.
fn dedent(text: &str) -> String {
    let literals = string_literals(text);
    let mut start = 0;
    let lines: Vec<(&str, bool)> = text
        .split_inclusive('\n')
        .map(|line| {
            let is_inside = literals.iter().any(|it| it.start < start && start < it.end);
            start += line.len();
            (line, is_inside)
        })
        .collect();
    let counted = lines.iter().filter(|(line, is_inside)| !is_inside && !line.trim().is_empty());
    let indents = counted.map(|(line, _)| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    let Some(shared) = indents.reduce(common_prefix).filter(|it| !it.is_empty()) else {
        return text.trim_end().to_owned();
    };
    let stripped = lines.iter().map(|(line, is_inside)| match line.strip_prefix(shared) {
        Some(rest) if !is_inside => rest,
        // A blank line may be shorter than the indentation.
        None if !is_inside => line.trim_start_matches([' ', '\t']),
        _ => line,
    });
    stripped.collect::<String>().trim_end().to_owned()
}

fn common_prefix<'a>(a: &'a str, b: &str) -> &'a str {
    let length = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    &a[..length]
}

/// Returns the ranges of string literals in Python code, found by a simple scan rather than a parser.
fn string_literals(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at = text[at..].find('\n').map_or(bytes.len(), |length| at + length),
            quote @ (b'"' | b'\'') => {
                let end = literal_end(bytes, at, quote);
                found.push(at..end);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn literal_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let is_triple = bytes[start..].starts_with(&[quote; 3]);
    let mut at = start + if is_triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !is_triple => return at,
            byte if byte == quote && !is_triple => return at + 1,
            byte if byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
