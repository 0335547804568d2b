//! `ot.load`: loads a whole stored result as data.

use onetool_core::CallContext;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{OtContext, OtError, Output};

pub(super) const DESCRIPTION: &str = "Load a whole stored result as data, to process it in code.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Load {
    /// The handle of the stored result.
    handle: String,
}

#[tracing::instrument(level = "debug", name = "ot.load", skip_all, fields(handle = %args.handle))]
pub(super) async fn load(context: OtContext, args: Load, cx: CallContext) -> Result<Output, OtError> {
    Ok(Output::Data(context.host.load(args.handle, &cx).await?))
}
