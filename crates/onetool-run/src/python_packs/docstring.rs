//! Parsing of docstrings into a description and descriptions of parameters.

use indexmap::IndexMap;

/// A parsed docstring.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Docstring {
    /// The text without the parameters.
    pub(super) description: String,
    pub(super) parameters: IndexMap<String, String>,
}

impl Docstring {
    /// Parses a docstring. Parameters are described in an `Args:` section or after `:param name:`.
    pub(super) fn parse(text: &str) -> Self {
        let lines = clean(text);
        let mut description: Vec<&str> = Vec::new();
        let mut parameters = IndexMap::new();
        let mut rest = lines.iter().map(String::as_str).peekable();
        while let Some(line) = rest.next() {
            if is_parameter_heading(line) {
                let mut section = Vec::new();
                while let Some(line) = rest.next_if(|line| line.trim().is_empty() || indent(line) > 0) {
                    section.push(line);
                }
                read_section(&section, &mut parameters);
            } else if let Some((name, text)) = sphinx_parameter(line) {
                let mut whole = text.to_owned();
                while let Some(line) = rest.next_if(|line| !line.trim().is_empty() && indent(line) > 0) {
                    push_line(&mut whole, line);
                }
                parameters.insert(name.to_owned(), whole);
            } else {
                description.push(line);
            }
        }
        let description = description.join("\n").trim().to_owned();
        Self { description: collapse_blank_lines(&description), parameters }
    }
}

/// Parses `name (type): text` entries; lines that are indented deeper continue the text.
fn read_section(lines: &[&str], parameters: &mut IndexMap<String, String>) {
    let non_blank = || lines.iter().filter(|line| !line.trim().is_empty());
    let Some(level) = non_blank().map(|line| indent(line)).min() else { return };
    let mut current: Option<String> = None;
    for line in non_blank() {
        let entry = (indent(line) == level).then(|| line.trim().split_once(':')).flatten();
        match (entry, &current) {
            (Some((head, text)), _) => {
                let name = head.split(['(', ' ']).next().unwrap_or(head).trim_start_matches('*').to_owned();
                parameters.insert(name.clone(), text.trim().to_owned());
                current = Some(name);
            }
            (None, Some(name)) => {
                if let Some(text) = parameters.get_mut(name) {
                    push_line(text, line);
                }
            }
            (None, None) => {}
        }
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line.trim());
}

fn is_parameter_heading(line: &str) -> bool {
    matches!(line.trim_end(), "Args:" | "Arguments:" | "Parameters:" | "Params:")
}

/// Parses `:param name: text` and `:param type name: text`.
fn sphinx_parameter(line: &str) -> Option<(&str, &str)> {
    let (head, text) = line.trim().strip_prefix(":param ")?.split_once(':')?;
    Some((head.split_whitespace().last()?, text.trim()))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Removes the common indentation of all lines but the first, as Python's `inspect.cleandoc` does.
fn clean(text: &str) -> Vec<String> {
    let text = text.replace('\t', "        ");
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim().to_owned();
    let rest: Vec<&str> = lines.collect();
    let margin =
        rest.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    let rest = rest.into_iter().map(|line| line.get(margin..).unwrap_or_default().trim_end().to_owned());
    std::iter::once(first).chain(rest).collect()
}

/// Collapses consecutive blank lines, which removed sections leave behind.
fn collapse_blank_lines(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}
