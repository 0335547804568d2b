//! Reads a page for `cargo xtask docs`: console blocks, and the comments before them.

use anyhow::{Context, Result, bail};

/// A step of a page, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Setup { line: usize, script: String },
    Write { to: String, text: String },
    Console { line: usize, server: bool, exchanges: Vec<Exchange> },
    Skipped { line: usize, reason: String },
}

/// A command and its expected output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The line of the command in the page, from 1.
    pub(super) line: usize,
    /// How many lines the command has.
    pub(super) length: usize,
    pub(super) command: String,
    pub(super) expected: Vec<String>,
}

impl Exchange {
    pub(super) fn matches(&self, output: &[String]) -> bool {
        lines_match(&self.expected, output)
    }
}

fn lines_match(expected: &[String], output: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return output.is_empty() };
    if first.trim() == "…" {
        return (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..]));
    }
    output.split_first().is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others))
}

/// Compares a line with an expected one, in which `…` matches any text.
fn line_matches(expected: &str, line: &str) -> bool {
    let Some((start, rest)) = expected.split_once('…') else { return expected == line };
    line.strip_prefix(start).is_some_and(|line| {
        line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| line_matches(rest, &line[at..]))
    })
}

/// What comments say about the next code block.
#[derive(Default)]
struct Next {
    not_run: Option<String>,
    server: bool,
    write: Option<String>,
}

/// Reads a page.
pub(super) fn read(text: &str) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut next = Next::default();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((number, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            let mut comment = comment.to_owned();
            while !comment.ends_with("-->") {
                let (_, more) = lines.next().with_context(|| format!("unclosed comment in line {number}"))?;
                comment = comment + "\n" + more;
            }
            read_comment(comment.trim_end_matches("-->").trim(), number, &mut next, &mut items)?;
        } else if let Some(language) = line.strip_prefix("```") {
            let mut block = Vec::new();
            loop {
                match lines.next() {
                    Some((_, "```")) => break,
                    Some(line) => block.push(line),
                    None => bail!("unclosed code block in line {number}"),
                }
            }
            let next = std::mem::take(&mut next);
            if let Some(to) = next.write {
                let text = block.iter().fold(String::new(), |text, (_, line)| text + line + "\n");
                items.push(Item::Write { to, text });
            }
            if language == "console" {
                items.push(match next.not_run {
                    Some(reason) => Item::Skipped { line: number, reason },
                    None => {
                        Item::Console { line: number, server: next.server, exchanges: exchanges(&block)? }
                    }
                });
            }
        }
    }
    Ok(items)
}

fn read_comment(comment: &str, line: usize, next: &mut Next, items: &mut Vec<Item>) -> Result<()> {
    let (keyword, value) = comment.split_once(':').unwrap_or((comment, ""));
    let value = value.trim().to_owned();
    match keyword {
        "not run" if value.is_empty() => bail!("line {line}: `not run` needs a reason"),
        "not run" => next.not_run = Some(value),
        "server" => next.server = true,
        "write" => next.write = Some(value),
        "setup" => items.push(Item::Setup { line, script: value }),
        // A comment for readers of the source.
        _ => {}
    }
    Ok(())
}

fn exchanges(block: &[(usize, &str)]) -> Result<Vec<Exchange>> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut continues = false;
    for (number, line) in block {
        if continues {
            let last = exchanges.last_mut().context("invariant: there is a command to continue")?;
            last.command = format!("{}\n{line}", last.command);
            last.length += 1;
            continues = is_unfinished(&last.command);
        } else if let Some(command) = line.strip_prefix("$ ") {
            continues = is_unfinished(command);
            exchanges.push(Exchange {
                line: *number,
                length: 1,
                command: command.to_owned(),
                expected: Vec::new(),
            });
        } else {
            let last = exchanges.last_mut();
            let last =
                last.with_context(|| format!("line {number}: a console block must begin with `$ `"))?;
            last.expected.push(line.trim_end().to_owned());
        }
    }
    Ok(exchanges)
}

/// Returns whether a command continues on the next line: after a backslash, or inside single quotes.
fn is_unfinished(command: &str) -> bool {
    command.ends_with('\\') || command.matches('\'').count() % 2 == 1
}

/// Returns the page with the output of these commands replaced.
pub(super) fn with_outputs(text: &str, outputs: &[(&Exchange, Vec<String>)]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for (exchange, output) in outputs.iter().rev() {
        // Line numbers count from 1, so this is the line after the command.
        let start = exchange.line - 1 + exchange.length;
        lines.splice(start..start + exchange.expected.len(), output.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}
