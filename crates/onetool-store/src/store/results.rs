//! Results that are kept for their callers.

use onetool_core::clock::Timestamp;
use serde::Serialize;

use super::ResultHandle;

/// What is known about a result without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResultInfo {
    /// The handle.
    pub handle: ResultHandle,
    /// Whether it is JSON rather than text.
    pub is_json: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it can no longer be read.
    pub expires_at: Timestamp,
    /// How many lines it has.
    pub total_lines: usize,
    /// The size of the stored text in bytes.
    pub size_bytes: u64,
}

/// A result that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptResult {
    /// What is known about it.
    pub info: ResultInfo,
    /// Its text.
    pub text: KeptText,
}

/// The text of a kept result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptText {
    /// In one piece.
    Whole(String),
    /// In parts, because it is large.
    InParts,
    /// Deleted, because it expired or made room for newer ones.
    Deleted,
}

/// Some lines of a large result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPart {
    /// The number of its first line; the first line of the result is 0.
    pub first_line: usize,
    /// The lines.
    pub text: String,
}
