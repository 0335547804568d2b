//! Collects the matches in a file, and formats them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use serde::Serialize;

use crate::blocking::Stop;

/// Longer lines are truncated, in characters.
const MAX_SHOWN: usize = 500;

/// A matching line.
#[derive(Serialize)]
pub(super) struct Match {
    pub(super) path: String,
    pub(super) line: u64,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// Collects the matches in one file until the limit of the search is reached.
pub(super) struct MatchCollector<'a> {
    path: &'a Path,
    remaining: &'a AtomicU64,
    has_more: &'a AtomicBool,
    before: Vec<String>,
    pub(super) found: Vec<Match>,
}

impl<'a> MatchCollector<'a> {
    pub(super) fn new(path: &'a Path, remaining: &'a AtomicU64, has_more: &'a AtomicBool) -> Self {
        Self { path, remaining, has_more, before: Vec::new(), found: Vec::new() }
    }
}

impl Sink for MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let take_one = |remaining: u64| remaining.checked_sub(1);
        if self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one).is_err() {
            self.has_more.store(true, Ordering::Relaxed);
            return Ok(false);
        }
        self.found.push(Match {
            path: self.path.display().to_string(),
            line: matched.line_number().unwrap_or_default(),
            text: shorten_line(matched.bytes()),
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let line = shorten_line(context.bytes());
        match (context.kind(), self.found.last_mut()) {
            (SinkContextKind::After, Some(last)) => last.after.push(line),
            _ => self.before.push(line),
        }
        Ok(true)
    }
}

/// Returns a line without its line break, truncated if it is long.
fn shorten_line(bytes: &[u8]) -> String {
    let line = String::from_utf8_lossy(bytes);
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Formats matches like `rg`, with `--` between those that have context.
pub(super) fn format_matches(found: &[Match]) -> String {
    let mut text = String::new();
    for (index, it) in found.iter().enumerate() {
        let has_context = !it.before.is_empty() || !it.after.is_empty();
        if has_context && index > 0 {
            text.push_str("--\n");
        }
        let path = &it.path;
        let first = it.line.saturating_sub(it.before.len() as u64);
        // Writing to a String cannot fail.
        for (number, line) in (first..).zip(&it.before) {
            let _ = writeln!(text, "{path}-{number}-{line}");
        }
        let _ = writeln!(text, "{path}:{}:{}", it.line, it.text);
        for (number, line) in (it.line + 1..).zip(&it.after) {
            let _ = writeln!(text, "{path}-{number}-{line}");
        }
    }
    text
}

/// Reads a file until the search is canceled.
pub(super) struct StoppableReader<'a> {
    pub(super) file: File,
    pub(super) stop: &'a Stop,
}

impl Read for StoppableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() { Ok(0) } else { self.file.read(buffer) }
    }
}
