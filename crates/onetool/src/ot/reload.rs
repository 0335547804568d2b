//! `ot.reload`: reads the configuration again.

use super::{Answer, OtContext, OtError};

pub(super) const DESCRIPTION: &str = "Read the configuration again from disk; a broken one changes nothing.";

#[tracing::instrument(name = "ot.reload", skip_all)]
pub(super) async fn reload(context: OtContext) -> Result<Answer, OtError> {
    context.host.reload().await.map_err(|reason| OtError::Reload { reason })?;
    Ok(Answer::Text("OK: Configuration reloaded".into()))
}
