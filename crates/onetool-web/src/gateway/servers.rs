//! Servers behind the gateway, and how they are.

use serde::Serialize;

/// How a server is, as far as calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It answers.
    Healthy,
    /// It is about to, or only in part.
    Degraded,
    /// It does not.
    Unhealthy,
}

/// One server, with everything a person needs to decide what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// Its name, which is also that of its pack.
    pub name: String,
    /// How it is reached: `stdio`, `http` or `openapi`.
    pub transport: String,
    /// How it is; says nothing while it is switched off.
    pub health: Health,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How many tools it brings.
    pub tool_count: usize,
    /// Why it is not healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_action: Option<String>,
    /// The last error, also after it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Since when it is as it is.
    pub since_ms: u64,
}

/// What a server wrote to its error output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerLog {
    /// The last lines, the oldest first.
    pub lines: Vec<String>,
}
