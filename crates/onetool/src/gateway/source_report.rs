//! How a source from outside is doing, in words for `check`, `ot.health()` and whoever else asks.

use std::fmt;

use onetool_core::clock::Timestamp;
use onetool_server::catalog::Source;

/// How a source is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// The first attempt is under way.
    Connecting,
    /// Its tools can be called.
    Connected,
    /// It could not be reached, or was lost, and is retried automatically.
    Retrying {
        /// Why.
        reason: String,
    },
    /// It is not tried again before the configuration is reloaded.
    Failed {
        /// Why.
        reason: String,
    },
    /// The configuration switches it off.
    Disabled,
}

impl SourceState {
    /// Returns why it cannot be used, where there is a reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Retrying { reason } | Self::Failed { reason } => Some(reason),
            Self::Connecting | Self::Connected | Self::Disabled => None,
        }
    }

    /// Returns what somebody can do about it, where there is something to do.
    pub fn next_step(&self) -> Option<&'static str> {
        match self {
            Self::Retrying { .. } => Some("retrying automatically"),
            Self::Failed { .. } => Some("fix it, then reload"),
            Self::Connecting => Some("it has not answered yet; ask again in a moment"),
            Self::Connected | Self::Disabled => None,
        }
    }
}

impl fmt::Display for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Retrying { .. } => "retrying",
            Self::Failed { .. } => "failed",
            Self::Disabled => "disabled",
        })
    }
}

/// What is known of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceReport {
    /// Its name, which is that of its pack.
    pub name: String,
    /// What it is.
    pub source: Source,
    /// How it is reached: `stdio`, `http` or `openapi`.
    pub transport: &'static str,
    /// How it is doing.
    pub state: SourceState,
    /// Since when, once it has been started.
    pub since: Option<Timestamp>,
    /// Why it could not be used the last time, also after that is over.
    pub last_error: Option<String>,
    /// Why its tools are not there although it is connected.
    pub conflict: Option<String>,
    /// How many tools of it are there.
    pub tools: usize,
    /// What is wrong with single things of it.
    pub notes: Vec<String>,
}

impl SourceReport {
    pub(super) fn not_started(name: &str, source: Source, transport: &'static str, is_enabled: bool) -> Self {
        Self {
            name: name.to_owned(),
            source,
            transport,
            state: if is_enabled { SourceState::Connecting } else { SourceState::Disabled },
            since: None,
            last_error: None,
            conflict: None,
            tools: 0,
            notes: Vec::new(),
        }
    }

    /// Returns why its tools cannot be used, where there is a reason.
    pub fn reason(&self) -> Option<&str> {
        self.conflict.as_deref().or_else(|| self.state.reason())
    }
}
