//! What the client gets in place of a large result.

use serde_json::{Value, json};

use super::ResultHandle;
use super::body::cut;

/// Longest line of a preview, in characters.
const LINE_CHARACTERS: usize = 200;
/// What the preview may cost; the rest of the 4 KB is for the other keys and for indentation.
const PREVIEW_COST: usize = 2800;
/// What a line costs beyond its text: quotes, a comma, a line break and indentation.
const COST_PER_LINE: usize = 10;
const SUMMARY_COST: usize = 700;
/// What the keys of a page and its note may cost.
const KEYS_COST: usize = 320;

/// A result that was stored, and what to tell about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResult {
    /// Asks for it later.
    pub handle: ResultHandle,
    /// How many lines it has.
    pub total_lines: usize,
    /// The size of the stored text; JSON is stored in lines, so it is larger than it was.
    pub size_bytes: u64,
    /// What it is, in a few words.
    pub summary: String,
    /// Its first lines, each cut at 200 characters.
    pub preview: Vec<String>,
}

impl StoredResult {
    pub(super) fn new(
        handle: ResultHandle,
        prepared: &super::body::Prepared,
        preview_lines: usize,
        size_bytes: u64,
    ) -> Self {
        let mut left = PREVIEW_COST;
        let mut affordable = |line: &String| {
            let cost = cost(line) + COST_PER_LINE;
            left.checked_sub(cost).map(|rest| left = rest).is_some()
        };
        let lines = prepared.text.lines().take(preview_lines).map(|line| cut(line, LINE_CHARACTERS));
        Self {
            handle,
            total_lines: prepared.total_lines,
            size_bytes,
            summary: affordable_start(&prepared.summary, SUMMARY_COST),
            preview: lines.take_while(|line| affordable(line)).collect(),
        }
    }

    /// Returns the call that reads the result from its first line.
    pub fn query(&self) -> String {
        format!("ot.result(handle='{}', offset=1, limit=100)", self.handle)
    }

    /// Returns what the client gets; under 4 KB in whatever format it is written.
    pub fn answer(&self) -> Value {
        json!({
            "handle": self.handle,
            "total_lines": self.total_lines,
            "size_bytes": self.size_bytes,
            "summary": self.summary,
            "preview": self.preview,
            "query": self.query(),
        })
    }
}

/// Returns how many of some lines an answer of at most `max` bytes can hold, in whatever format; at least one.
pub(super) fn affordable<'a>(lines: impl Iterator<Item = &'a str>, max: usize) -> usize {
    let mut left = max.saturating_sub(KEYS_COST);
    let is_affordable =
        |line: &&str| left.checked_sub(cost(line) + COST_PER_LINE).map(|rest| left = rest).is_some();
    lines.take_while(is_affordable).count().max(1)
}

/// Returns the most bytes that any of our formats needs for a text, which may escape everything but plain letters.
fn cost(text: &str) -> usize {
    text.chars().map(character_cost).sum()
}

fn character_cost(character: char) -> usize {
    match character {
        '"' | '\'' | '\\' => 2,
        ' '..='~' => 1,
        _ if character.is_alphanumeric() => character.len_utf8(),
        '\u{10000}'.. => 12,
        _ => 6,
    }
}

fn affordable_start(text: &str, max: usize) -> String {
    let mut left = max;
    let is_affordable =
        |character: &char| left.checked_sub(character_cost(*character)).map(|rest| left = rest).is_some();
    text.chars().take_while(is_affordable).collect()
}
