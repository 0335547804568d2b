//! What an upstream currently offers, and the state of its connection.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use onetool_core::{Prompt, Resource, Tool};

/// What an upstream offers at one point in time.
///
/// The lists are empty before the first connection. While disconnected they stay unchanged, and calls fail with the
/// reason.
#[derive(Clone)]
pub struct Snapshot {
    /// The state of the connection.
    pub state: State,
    /// Its tools, named `{pack}.{tool}`.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Its resources and resource templates, under [`wrapped_uri`](crate::wrapped_uri).
    pub resources: Vec<Arc<dyn Resource>>,
    /// Its prompts, named `{pack}_{prompt}`.
    pub prompts: Vec<Arc<dyn Prompt>>,
    /// The server's instructions.
    pub instructions: Option<String>,
    /// The server's name for itself.
    pub server_name: Option<String>,
    /// The server's version.
    pub server_version: Option<String>,
    /// The negotiated protocol revision.
    pub protocol_version: Option<String>,
}

impl Snapshot {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            instructions: None,
            server_name: None,
            server_version: None,
            protocol_version: None,
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("state", &self.state)
            .field("tools", &self.tools.len())
            .field("resources", &self.resources.len())
            .field("prompts", &self.prompts.len())
            .field("server", &self.server_name)
            .finish_non_exhaustive()
    }
}

/// The state of the connection to an upstream. Its text says what is wrong and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The first attempt is running, or a new session is being opened.
    Connecting,
    /// The upstream can be called.
    Connected,
    /// The connection failed or was lost, and is retried automatically.
    BackingOff {
        /// Why.
        reason: Arc<str>,
        /// Number of recent failures.
        attempt: u32,
        /// When the next attempt starts, or started.
        until: Instant,
    },
    /// The connection failed and is not retried before a call or the operator asks for it.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// The upstream is disabled in the configuration, or was shut down.
    Disabled,
}

impl State {
    /// Returns whether the upstream can be called.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }

    /// Returns why it is not connected, if a failure is the reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::BackingOff { reason, .. } | Self::Failed { reason } => Some(reason),
            Self::Connecting | Self::Connected | Self::Disabled => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => f.write_str("connecting"),
            Self::Connected => f.write_str("connected"),
            Self::BackingOff { reason, .. } => write!(f, "disconnected, retrying automatically: {reason}"),
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            Self::Disabled => f.write_str("disabled"),
        }
    }
}
