//! Stored results of the caller.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use onetool_store::results::{self, QueryError, ResultInfo, ResultPage};
use onetool_web::{ApiError, QueryParams};
use serde::Deserialize;

use super::{ApiResult, Gateway, Who};

/// Which lines of a stored result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinesQuery {
    /// The first line, counted from 1.
    #[serde(default = "first_line")]
    offset: i64,
    /// Maximum number of lines.
    #[serde(default = "default_limit")]
    limit: i64,
    /// Only lines that match this regular expression; offset and limit count those.
    search: Option<String>,
    /// Treats `search` as words instead, and returns the lines most similar to them, best first.
    #[serde(default)]
    fuzzy: bool,
}

fn first_line() -> i64 {
    1
}

fn default_limit() -> i64 {
    100
}

pub(super) async fn list(State(inner): Gateway, Extension(caller): Who) -> ApiResult<Vec<ResultInfo>> {
    let list = inner.results.list(&caller).await;
    list.map(Json).map_err(|error| ApiError::Failed(error.to_string()))
}

pub(super) async fn page(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(handle): Path<String>,
    QueryParams(LinesQuery { offset, limit, search, fuzzy }): QueryParams<LinesQuery>,
) -> ApiResult<ResultPage> {
    let query = results::ResultQuery {
        offset,
        limit,
        search,
        fuzzy,
        with_places: true,
        ..results::ResultQuery::new(handle)
    };
    inner.results.query(&caller, query).await.map(Json).map_err(|error| match error {
        QueryError::NotFound { .. } => ApiError::NotFound(error.to_string()),
        QueryError::Expired { .. } => ApiError::Expired(error.to_string()),
        QueryError::Store { .. } | QueryError::Unreadable { .. } => ApiError::Failed(error.to_string()),
        _ => ApiError::Invalid(error.to_string()),
    })
}
