//! What the events come to.

use std::time::Duration;

use onetool_core::abbreviate;
use onetool_core::clock::{Day, Timestamp};
use serde::Serialize;

use crate::store::{DaySum, EventSums, ToolSum};

/// A stretch of time up to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
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

/// A period that is none of the four.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Error: Invalid period '{period}'. Valid: day, week, month, all. Example: ot.stats(period='day')")]
pub struct PeriodError {
    /// What was asked for.
    pub period: String,
}

impl Period {
    /// Reads the name of a period.
    ///
    /// # Errors
    /// When it is none of the four.
    pub fn parse(name: &str) -> Result<Self, PeriodError> {
        match name {
            "day" => Ok(Self::Day),
            "week" => Ok(Self::Week),
            "month" => Ok(Self::Month),
            "all" => Ok(Self::All),
            _ => Err(PeriodError { period: abbreviate(name).into_owned() }),
        }
    }

    pub(super) fn since(self, now: Timestamp) -> Option<Timestamp> {
        let days = match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 30,
            Self::All => return None,
        };
        Some(now.before(Duration::from_hours(24 * days)))
    }
}

/// Says how many tokens that many bytes are for a model, roughly: four bytes each, as English text and JSON have it.
///
/// Every figure in tokens comes from here, and sums are turned into tokens once, so that nothing is rounded twice.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// The figures of a period, of all tools or of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsReport {
    /// The period.
    pub period: Period,
    /// The tool, where only one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Calls of tools, by clients and by code.
    pub total_calls: u64,
    /// How many of them succeeded, in percent; none where there were none.
    pub success_rate: Option<f64>,
    /// Tokens that clients did not have to hold, less those that they held because of us; can be negative.
    pub context_saved: i64,
    /// What that is made of.
    pub context_saved_parts: ContextParts,
    /// Turns of the model that were not needed, in milliseconds.
    pub time_saved_ms: u64,
    /// What that is made of.
    pub time_saved_parts: TimeParts,
    /// Code that was run; where one tool was asked for, the runs that called it.
    pub runs: RunStats,
    /// Sessions that began (none where one tool was asked for).
    pub sessions: u64,
    /// Each tool, the one with the most calls first.
    pub tools: Vec<ToolStats>,
    /// Each pack, the one with the most calls first. Tools without a pack are under their own names.
    pub packs: Vec<PackStats>,
    /// Each UTC day on which something happened, the earliest first.
    pub per_day: Vec<DayStats>,
    /// Events that were lost since the start because they came faster than they could be written.
    pub dropped: u64,
}

/// What [`StatsReport::context_saved`] is made of, in tokens: the first two less the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ContextParts {
    /// Definitions of tools that clients did not get, once for each session (none where one tool was asked for).
    pub definitions_kept_out: i64,
    /// Results that went to code and not to the client. Those of our own tools do not count: without us there would
    /// be none.
    pub inner_results_kept_in: i64,
    /// What clients held because of us: the definitions of our own tools once for each session, the code of runs and
    /// their answers, and direct calls of our own tools.
    pub own_cost: i64,
}

/// What [`StatsReport::time_saved_ms`] is made of: the product of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TimeParts {
    /// Calls inside runs, without the first one of each run: each would have been a separate turn.
    pub inner_calls_beyond_first: u64,
    /// What a turn of the model takes, as configured.
    pub turn_ms: u64,
}

/// Code that was run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RunStats {
    /// How often.
    pub runs: u64,
    /// How often without an error, in percent.
    pub success_rate: Option<f64>,
    /// How long on average.
    pub avg_ms: Option<f64>,
}

/// The calls of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolStats {
    /// Its canonical name.
    pub tool: String,
    /// How many.
    pub calls: u64,
    /// How many of them succeeded, in percent.
    pub success_rate: Option<f64>,
    /// How long one took on average.
    pub avg_ms: Option<f64>,
    /// Bytes of arguments and results.
    pub total_bytes: u64,
}

/// The calls of one pack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackStats {
    /// Its name.
    pub pack: String,
    /// How many of its tools were called.
    pub tools: u64,
    /// How many calls.
    pub calls: u64,
    /// How many of them succeeded, in percent.
    pub success_rate: Option<f64>,
    /// How long one took on average.
    pub avg_ms: Option<f64>,
    /// Bytes of arguments and results.
    pub total_bytes: u64,
}

/// One UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DayStats {
    /// The day.
    pub day: Day,
    /// Calls of tools.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Code that was run.
    pub runs: u64,
}

impl StatsReport {
    pub(super) fn new(
        period: Period,
        tool: Option<&str>,
        sums: &EventSums,
        turn_ms: u64,
        dropped: u64,
    ) -> Self {
        let EventSums { tools, days, runs, .. } = sums;
        let total = add_up(tools);
        let context = context_parts(tool, sums);
        let time = TimeParts { inner_calls_beyond_first: runs.beyond_first, turn_ms };
        Self {
            period,
            tool: tool.map(str::to_owned),
            total_calls: total.calls,
            success_rate: percent(total.succeeded, total.calls),
            context_saved: context.definitions_kept_out + context.inner_results_kept_in - context.own_cost,
            context_saved_parts: context,
            time_saved_ms: time.inner_calls_beyond_first.saturating_mul(turn_ms),
            time_saved_parts: time,
            runs: RunStats {
                runs: runs.runs,
                success_rate: percent(runs.succeeded, runs.runs),
                avg_ms: average_ms(runs.duration_us, runs.runs),
            },
            sessions: sums.sessions.sessions,
            tools: tools.iter().map(ToolStats::from).collect(),
            packs: packs(tools),
            per_day: days.iter().map(DayStats::from).collect(),
            dropped,
        }
    }
}

fn context_parts(tool: Option<&str>, sums: &EventSums) -> ContextParts {
    let EventSums { tools, runs, sessions, .. } = sums;
    let own_tools = || tools.iter().filter(|it| is_own(&it.tool));
    let own_inside: u64 = own_tools().map(|it| it.bytes_in_runs).sum();
    let own_direct: u64 = own_tools().filter(|it| it.tool != "run").map(|it| it.bytes_direct).sum();
    let inner_bytes = match tool {
        None => runs.inner_bytes,
        // A running run has no event yet; its calls have.
        Some(_) => tools.iter().map(|it| it.bytes_in_runs).sum(),
    };
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    ContextParts {
        definitions_kept_out: signed(sessions.kept_out),
        inner_results_kept_in: signed(tokens(inner_bytes.saturating_sub(own_inside))),
        own_cost: signed(sessions.own.saturating_add(tokens(runs.bytes + own_direct))),
    }
}

/// Returns whether a tool is onetool's, and not one of a source that onetool serves.
fn is_own(tool: &str) -> bool {
    tool == "run" || tool.starts_with("ot.") || (tool.starts_with("tool_") && !tool.contains('.'))
}

fn packs(tools: &[ToolSum]) -> Vec<PackStats> {
    let mut groups: Vec<(&str, Vec<&ToolSum>)> = Vec::new();
    for sum in tools {
        let pack = sum.tool.split_once('.').map_or(sum.tool.as_str(), |(pack, _)| pack);
        match groups.iter_mut().find(|(name, _)| *name == pack) {
            Some((_, members)) => members.push(sum),
            None => groups.push((pack, vec![sum])),
        }
    }
    let stats = |(pack, members): (&str, Vec<&ToolSum>)| {
        let total = add_up(members.iter().copied());
        PackStats {
            pack: pack.to_owned(),
            tools: members.len() as u64,
            calls: total.calls,
            success_rate: percent(total.succeeded, total.calls),
            avg_ms: average_ms(total.duration_us, total.calls),
            total_bytes: total.bytes,
        }
    };
    let mut packs: Vec<PackStats> = groups.into_iter().map(stats).collect();
    packs.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.pack.cmp(&b.pack)));
    packs
}

fn add_up<'a>(tools: impl IntoIterator<Item = &'a ToolSum>) -> ToolSum {
    tools.into_iter().fold(ToolSum::default(), |total, it| ToolSum {
        calls: total.calls + it.calls,
        succeeded: total.succeeded + it.succeeded,
        duration_us: total.duration_us + it.duration_us,
        bytes: total.bytes + it.bytes,
        ..total
    })
}

impl From<&ToolSum> for ToolStats {
    fn from(sum: &ToolSum) -> Self {
        Self {
            tool: sum.tool.clone(),
            calls: sum.calls,
            success_rate: percent(sum.succeeded, sum.calls),
            avg_ms: average_ms(sum.duration_us, sum.calls),
            total_bytes: sum.bytes,
        }
    }
}

impl From<&DaySum> for DayStats {
    fn from(sum: &DaySum) -> Self {
        Self {
            day: Day::from_number(sum.day),
            calls: sum.calls,
            failed: sum.calls.saturating_sub(sum.succeeded),
            runs: sum.runs,
        }
    }
}

/// Returns a share in percent, to one decimal. 100 means all, and 0 none: neither is ever reached by rounding.
#[expect(clippy::cast_precision_loss, reason = "one decimal is kept")]
fn percent(part: u64, whole: u64) -> Option<f64> {
    let rounded = ((part as f64) * 1000.0 / whole as f64).round() / 10.0;
    match part {
        _ if whole == 0 => None,
        0 => Some(0.0),
        _ if part >= whole => Some(100.0),
        _ => Some(rounded.clamp(0.1, 99.9)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is kept")]
fn average_ms(duration_us: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| (duration_us as f64 / count as f64 / 100.0).round() / 10.0)
}
