//! `ot.stats`: how much was called, and what that saved.

use onetool_core::CallContext;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, OtContext};
pub(crate) use onetool_store::stats::Period;
use onetool_store::stats::PeriodError;

pub(super) const DESCRIPTION: &str =
    "Count calls, successes, and the context and time saved; output=\"stats.html\" also writes a report.";

/// Errors that are answers: code gets them as strings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StatsError {
    #[error(
        "Error: Statistics are switched off. Set stats.enabled to true in the configuration, then ot.reload()"
    )]
    Off,
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error("Error: Cannot write to '{path}': {reason}")]
    Write { path: String, reason: String },
    #[error("Error: Cannot read the statistics: {reason}")]
    Read { reason: String },
}

/// What to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatsQuery {
    pub(crate) period: Period,
    /// Only this tool, by canonical name.
    pub(crate) tool: Option<String>,
    /// Where to write a report, as the caller wrote it.
    pub(crate) output: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stats {
    /// Which calls count: day, week, month or all.
    #[serde(default = "every_period")]
    period: String,
    /// Only this tool, for example brave.search.
    #[serde(default)]
    tool: Option<String>,
    /// A file to write an HTML report to.
    #[serde(default)]
    output: Option<String>,
}

fn every_period() -> String {
    "all".into()
}

#[tracing::instrument(level = "debug", name = "ot.stats", skip_all)]
pub(super) async fn stats(context: OtContext, args: Stats, cx: CallContext) -> Answer {
    let answer = async {
        let period = Period::parse(&args.period)?;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        // A flat name and an alias are names, too; a tool that is gone may still have been counted.
        let canonical = |name: String| {
            let name = context.aliases.resolve(&name).map_or(name, str::to_owned);
            context.catalog.get(&name).map_or(name, |entry| entry.name().to_string())
        };
        let tool = given(args.tool).map(canonical);
        context.host.stats(StatsQuery { period, tool, output: given(args.output) }, &cx).await
    };
    answer.await.map_or_else(|error| Answer::Error(error.to_string()), Answer::Data)
}
