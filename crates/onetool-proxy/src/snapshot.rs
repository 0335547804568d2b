//! What an upstream offers at one moment, and how it is doing.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use onetool_core::{Prompt, Resource, Tool};

/// What an upstream offers at one moment.
///
/// While there is no connection the lists stay as they were, and a call says why it cannot be made. They are empty
/// before the first connection.
#[derive(Clone)]
pub struct Snapshot {
    /// How the connection is doing.
    pub state: State,
    /// Its tools, named `{pack}.{tool}`.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Its resources and resource templates, under [`wrapped_uri`](crate::wrapped_uri).
    pub resources: Vec<Arc<dyn Resource>>,
    /// Its prompts, named `{pack}_{prompt}`.
    pub prompts: Vec<Arc<dyn Prompt>>,
    /// What it says about its own use.
    pub instructions: Option<String>,
    /// The name it gives itself.
    pub server_name: Option<String>,
    /// Its version.
    pub server_version: Option<String>,
    /// The protocol revision in use.
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

/// How the connection to an upstream is doing. Its text says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The first attempt is in flight, or a new session is being opened.
    Connecting,
    /// It can be called.
    Connected,
    /// It could not be reached, or was lost, and is tried again.
    BackingOff {
        /// Why.
        reason: Arc<str>,
        /// How many times in a row it has failed.
        attempt: u32,
        /// When the next attempt begins, or began.
        until: Instant,
    },
    /// It is not tried again before somebody asks for it or calls it.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// The configuration switches it off.
    Disabled,
}

impl State {
    /// Returns whether calls can be made.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }

    /// Returns why it is not connected, where there is a reason.
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
