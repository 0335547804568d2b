//! Which figures are asked for; the gateway has the report.

use serde::Deserialize;

/// What to add up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatsQuery {
    /// The name of the period; everything where there is none.
    pub period: Option<String>,
    /// Only this tool.
    pub tool: Option<String>,
}
