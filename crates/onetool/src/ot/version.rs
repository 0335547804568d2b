//! `ot.version`: returns the version of onetool.

use super::{OtContext, Output};

pub(super) const DESCRIPTION: &str = "Return the version of onetool.";

#[tracing::instrument(level = "debug", name = "ot.version", skip_all)]
pub(super) fn version(context: &OtContext) -> Output {
    Output::Text(context.version.clone())
}
