//! `ot.result`: reads pages of a stored result.

use onetool_core::CallContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{OtContext, OtError, Output};
use onetool_store::results::ResultQuery;

pub(super) const DESCRIPTION: &str =
    "Read a page of a stored result, or of its lines that match a regular expression (search).";

const DEFAULT_LIMIT: i64 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The handle of the stored result.
    handle: String,
    /// The first line, counted from 1.
    #[serde(default = "first_line")]
    offset: i64,
    /// Maximum number of lines.
    #[serde(default = "default_limit")]
    limit: i64,
    /// Only lines that match this regular expression.
    #[serde(default)]
    search: Option<String>,
    /// Whether to return lines similar to search instead, best first.
    #[serde(default)]
    fuzzy: bool,
    /// The part of stored JSON to read, for example a.b[0].
    #[serde(default)]
    path: Option<String>,
}

fn first_line() -> i64 {
    1
}

fn default_limit() -> i64 {
    DEFAULT_LIMIT
}

// OT-14.1 requires these fields, at debug level only; other arguments are never logged.
#[tracing::instrument(
    level = "debug",
    name = "ot.result",
    skip_all,
    fields(handle = %args.handle, offset = args.offset, limit = args.limit, search = args.search.as_deref())
)]
pub(super) async fn result(context: OtContext, args: Page, cx: CallContext) -> Result<Output, OtError> {
    let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
    let query = ResultQuery {
        handle: args.handle.into(),
        offset: args.offset,
        limit: args.limit,
        search: non_empty(args.search),
        fuzzy: args.fuzzy,
        path: non_empty(args.path),
        with_places: false,
        max_size: context.config.output.max_inline_size,
    };
    Ok(Output::Page(json!(context.host.result(query, &cx).await?)))
}
