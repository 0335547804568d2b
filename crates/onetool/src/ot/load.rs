//! `ot.load`: a whole stored result, as data for code.

use onetool_core::CallContext;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, OtContext, OtError};

pub(super) const DESCRIPTION: &str = "Load a whole stored result as data, to work on in code.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Load {
    /// The handle that came in the place of the result.
    handle: String,
}

#[tracing::instrument(level = "debug", name = "ot.load", skip_all, fields(handle = %args.handle))]
pub(super) async fn load(context: OtContext, args: Load, cx: CallContext) -> Result<Answer, OtError> {
    Ok(Answer::Data(context.host.load(args.handle, &cx).await?))
}
