//! Waits for other servers and OpenAPI descriptions, for commands that need all tools.

use std::io::IsTerminal as _;
use std::time::Duration;

use onetool::{Gateway, SourceState};

use crate::error::CliError;
use crate::output::note;

/// How long to wait before saying what the command waits for.
const QUIET_WAIT: Duration = Duration::from_secs(1);

/// Runs `command` with every source connected, then closes the connections.
pub(crate) fn with_connected<T>(
    gateway: &Gateway,
    command: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    if gateway.sources().is_empty() {
        return command();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(connect(gateway));
    let result = command();
    runtime.block_on(gateway.close());
    result
}

/// Connects every source, and prints which of them cannot be used, and why.
pub(crate) async fn connect(gateway: &Gateway) {
    wait(gateway).await;
    for report in gateway.sources() {
        if let Some(reason) = report.reason() {
            note(&format!("{}: {reason}", report.source));
        }
    }
}

/// Waits for every source. After a second, prints on a terminal which ones are still connecting.
pub(crate) async fn wait(gateway: &Gateway) {
    let connected = gateway.connected();
    tokio::pin!(connected);
    if tokio::time::timeout(QUIET_WAIT, &mut connected).await.is_ok() {
        return;
    }
    if std::io::stderr().is_terminal() {
        let waiting = gateway.sources().into_iter().filter(|it| it.state == SourceState::Connecting);
        let names: Vec<String> = waiting.map(|it| it.name).collect();
        note(&format!("connecting to {} …", names.join(", ")));
    }
    connected.await;
}
