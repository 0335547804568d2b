//! `ot.stats`: shows statistics, and writes them as a report.

use onetool_core::CallContext;
use onetool_store::stats::Period;
use schemars::JsonSchema;
use serde::Deserialize;

use super::stats_query::StatsQuery;
use super::{OtContext, Output};

pub(super) const DESCRIPTION: &str = "Show calls, success rate, and the context and time saved; \
    output=\"stats.html\" also writes a report.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stats {
    /// The period to count: day, week, month or all.
    #[serde(default = "default_period")]
    period: String,
    /// Only this tool, for example brave.search.
    #[serde(default)]
    tool: Option<String>,
    /// A file to write an HTML report to.
    #[serde(default)]
    output: Option<String>,
}

fn default_period() -> String {
    "all".into()
}

#[tracing::instrument(level = "debug", name = "ot.stats", skip_all)]
pub(super) async fn stats(context: OtContext, args: Stats, cx: CallContext) -> Output {
    let result = async {
        let period = Period::parse(&args.period)?;
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        // Accept flat names and aliases. A removed tool is not in the catalog but may have statistics.
        let canonical = |name: String| {
            let name = context.aliases.resolve(&name).map_or(name, str::to_owned);
            context.catalog.get(&name).map_or(name, |entry| entry.name().to_string())
        };
        let tool = non_empty(args.tool).map(canonical);
        context.host.stats(StatsQuery { period, tool, output: non_empty(args.output) }, &cx).await
    };
    result.await.map_or_else(|error| Output::Error(error.to_string()), Output::Data)
}
