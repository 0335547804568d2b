//! `ot.result`: pages of a large result that was stored.

use onetool_core::CallContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, OtContext, OtError};
use onetool_store::results::ResultQuery;

pub(super) const DESCRIPTION: &str =
    "Read lines of a stored result: a page of them, or those that match search, a regular expression.";

const DEFAULT_LIMIT: i64 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The handle that came in the place of the result.
    handle: String,
    /// The first line, counted from 1.
    #[serde(default = "first_line")]
    offset: i64,
    /// How many lines at most.
    #[serde(default = "default_limit")]
    limit: i64,
    /// Only lines that match this regular expression.
    #[serde(default)]
    search: Option<String>,
    /// Whether lines that are similar to search are enough, best first.
    #[serde(default)]
    fuzzy: bool,
    /// The part of stored JSON to look at, for example a.b[0].
    #[serde(default)]
    path: Option<String>,
}

fn first_line() -> i64 {
    1
}

fn default_limit() -> i64 {
    DEFAULT_LIMIT
}

// The fields are what the specification wants to see, at debug alone; other arguments are never logged.
#[tracing::instrument(
    level = "debug",
    name = "ot.result",
    skip_all,
    fields(handle = %args.handle, offset = args.offset, limit = args.limit, search = args.search.as_deref())
)]
pub(super) async fn result(context: OtContext, args: Page, cx: CallContext) -> Result<Answer, OtError> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let query = ResultQuery {
        handle: args.handle.into(),
        offset: args.offset,
        limit: args.limit,
        search: given(args.search),
        fuzzy: args.fuzzy,
        path: given(args.path),
        with_places: false,
        max_size: context.config.output.max_inline_size,
    };
    Ok(Answer::Page(json!(context.host.result(query, &cx).await?)))
}
