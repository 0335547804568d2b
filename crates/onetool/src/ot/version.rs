//! `ot.version`: the version of onetool.

use super::{Answer, OtContext};

pub(super) const DESCRIPTION: &str = "Tell the version of onetool.";

#[tracing::instrument(level = "debug", name = "ot.version", skip_all)]
pub(super) fn version(context: &OtContext) -> Answer {
    Answer::Text(context.version.clone())
}
