//! Logs go to stderr: stdout belongs to the transport.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts logging. The SDK logs whole messages, which may hold anything, and calls a client that
/// hangs up an error; so it stays quiet unless asked by name.
pub(crate) fn start(filter: Option<&str>, default: &str) {
    let quiet_sdk = || EnvFilter::new(format!("{default},rmcp=off"));
    let filter = filter.and_then(|it| EnvFilter::try_new(it).ok()).unwrap_or_else(quiet_sdk);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A subscriber that is there already is as good.
    let _ = subscriber.try_init();
}
