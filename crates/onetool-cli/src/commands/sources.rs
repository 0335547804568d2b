//! Waiting for other servers and OpenAPI descriptions, before a command that needs all tools goes on.

use std::io::IsTerminal as _;
use std::time::Duration;

use onetool::{Gateway, SourceState};

use crate::error::CliError;
use crate::output::note;

/// After how long somebody who waits is told what for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs `command` with every source connected, and ends the connections afterwards.
pub(crate) fn with_all<T>(
    gateway: &Gateway,
    command: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    if gateway.sources().is_empty() {
        return command();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(connect(gateway));
    let done = command();
    runtime.block_on(gateway.close());
    done
}

/// Connects every source, and tells which of them cannot be used, and why.
pub(crate) async fn connect(gateway: &Gateway) {
    wait(gateway).await;
    for report in gateway.sources() {
        if let Some(reason) = report.reason() {
            note(&format!("{}: {reason}", report.source));
        }
    }
}

/// Waits for every source; on a terminal it says after a second what it waits for.
pub(crate) async fn wait(gateway: &Gateway) {
    let connected = gateway.connected();
    tokio::pin!(connected);
    if tokio::time::timeout(PATIENCE, &mut connected).await.is_ok() {
        return;
    }
    if std::io::stderr().is_terminal() {
        let waiting = gateway.sources().into_iter().filter(|it| it.state == SourceState::Connecting);
        let names: Vec<String> = waiting.map(|it| it.name).collect();
        note(&format!("connecting to {} …", names.join(", ")));
    }
    connected.await;
}
