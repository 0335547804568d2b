//! Calls that were made, to be looked at and made again.

use onetool_core::{JsonObject, ToolOutput};
use serde::{Deserialize, Serialize};

/// Which calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryQuery {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// How many at most; the gateway has a limit of its own.
    pub limit: Option<usize>,
}

/// A call, without what went in and came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSummary {
    /// Names the call.
    pub id: String,
    /// The tool's canonical name.
    pub tool: String,
    /// When it began.
    pub at_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether it ended badly.
    pub is_error: bool,
    /// Who made it: `page`, `agent`, `code`, `cli`.
    pub surface: String,
    /// Whether it is kept.
    pub pinned: bool,
}

/// A call with what went in and came out; secrets are masked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// What stands in the list.
    #[serde(flatten)]
    pub summary: CallSummary,
    /// The arguments.
    pub arguments: JsonObject,
    /// The result, cut where it is large.
    pub output: ToolOutput,
}
