//! Statistics of calls.

use axum::Json;
use axum::extract::State;
use onetool_store::stats::{Period, StatsError};
use onetool_web::{ApiError, QueryParams};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiResult, Gateway};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatsQuery {
    /// `day`, `week`, `month` or `all`. Default: all.
    period: Option<String>,
    /// Only calls of this tool.
    tool: Option<String>,
}

pub(super) async fn report(
    State(inner): Gateway,
    QueryParams(query): QueryParams<StatsQuery>,
) -> ApiResult<Value> {
    let period = query.period.as_deref().map_or(Ok(Period::All), Period::parse);
    let period = period.map_err(|error| ApiError::Invalid(error.to_string()))?;
    match inner.stats.report(period, query.tool.as_deref()).await {
        Ok(report) => Ok(Json(without_nulls(json!(report)))),
        Err(error @ StatsError::Disabled) => Err(ApiError::Off(error.to_string())),
        Err(error) => Err(ApiError::Failed(error.to_string())),
    }
}

/// Removes keys without a value; `ot.stats` has `None` there.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
