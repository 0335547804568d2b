//! `ot.reload`: reloads the configuration.

use std::fmt::Write as _;

use super::{OtContext, OtError, Output};

pub(super) const DESCRIPTION: &str = "Reload the configuration from disk; an invalid one changes nothing. New \
    commands, servers, secrets and wider access wait for the operator.";

#[tracing::instrument(level = "debug", name = "ot.reload", skip_all)]
pub(super) async fn reload(context: OtContext) -> Result<Output, OtError> {
    let reloaded = context.host.reload().await.map_err(|reason| OtError::Reload { reason })?;
    let mut text = "OK: Configuration reloaded".to_owned();
    // Writing to a String cannot fail.
    if !reloaded.waiting.is_empty() {
        let how = match &reloaded.operator_reload {
            Some(command) => format!("the operator applies them with `{command}` or a restart"),
            None => "the operator applies them with a restart".to_owned(),
        };
        let _ = write!(text, "\nWaiting for the operator: {}; {how}", reloaded.waiting.join(", "));
    }
    if !reloaded.on_restart.is_empty() {
        let _ = write!(text, "\nTakes effect after a restart: {}", reloaded.on_restart.join(", "));
    }
    Ok(Output::Text(text))
}
