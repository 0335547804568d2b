//! What calls came to.

use serde::{Deserialize, Serialize};

/// A stretch of time up to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// The last 24 hours.
    Day,
    /// The last 7 days.
    Week,
    /// The last 30 days.
    Month,
    /// Everything.
    #[default]
    All,
}

/// What to add up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatsQuery {
    /// The period.
    #[serde(default)]
    pub period: Period,
    /// Only this tool.
    pub tool: Option<String>,
}

/// The figures of a period.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsReport {
    /// The period.
    pub period: Period,
    /// Calls of tools, by clients and by code.
    pub total_calls: u64,
    /// How many of them succeeded, in percent; none where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
    /// Tokens that clients did not have to hold, less those that they held because of us; can be negative.
    pub context_saved: i64,
    /// What that is made of.
    pub context_saved_parts: ContextParts,
    /// Turns of the model that were not needed, in milliseconds.
    pub time_saved_ms: u64,
    /// What that is made of.
    pub time_saved_parts: TimeParts,
    /// Each tool, the one with the most calls first.
    pub tools: Vec<ToolStats>,
    /// Each UTC day on which something happened, the earliest first.
    pub per_day: Vec<DayStats>,
    /// Events that were lost because they came faster than they could be written.
    pub dropped: u64,
}

/// What the saved context is made of, in tokens: the first two less the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ContextParts {
    /// Definitions of tools that clients did not get.
    pub definitions_kept_out: i64,
    /// Results that went to code and not to the client.
    pub inner_results_kept_in: i64,
    /// What clients held because of us.
    pub own_cost: i64,
}

/// What the saved time is made of: the product of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TimeParts {
    /// Calls inside runs, without the first one of each run.
    pub inner_calls_beyond_first: u64,
    /// What a turn of the model takes, as configured.
    pub turn_ms: u64,
}

/// The calls of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolStats {
    /// Its canonical name.
    pub tool: String,
    /// How many.
    pub calls: u64,
    /// How many of them succeeded, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
    /// How long one took on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg_ms: Option<f64>,
    /// Bytes of arguments and results.
    pub total_bytes: u64,
}

/// One UTC day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayStats {
    /// The day, as `2026-07-28`.
    pub day: String,
    /// Calls of tools.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
}
