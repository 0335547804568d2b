//! `ot.notify`: appends a note to a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{OtContext, OtError, Output};
use crate::notify::Notified;

pub(super) const DESCRIPTION: &str = "Append a note to the file configured for its topic.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Notify {
    /// The topic of the note, for example notes or status:build.
    topic: String,
    /// The text of the note.
    message: String,
}

#[tracing::instrument(level = "debug", name = "ot.notify", skip_all)]
pub(super) async fn notify(context: OtContext, args: Notify) -> Result<Output, OtError> {
    let notified = context.host.notify(args.topic, args.message).await;
    let text = match notified.map_err(|error| OtError::Failed(Box::new(error)))? {
        Notified::Written(path) => {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            format!("OK: appended to {name}")
        }
        Notified::Skipped => "SKIP: no matching topic".to_owned(),
    };
    Ok(Output::Text(text))
}
