//! Reports the state of external sources, for `check`, `ot.health()` and the page.

use std::fmt;

use onetool_core::clock::Timestamp;
use onetool_server::catalog::Source;

/// The state of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// The first attempt is running.
    Connecting,
    /// Its tools can be called.
    Connected,
    /// It could not be reached, or was lost, and is retried automatically.
    Retrying {
        /// The reason.
        reason: String,
    },
    /// It failed, and is not retried until the configuration is reloaded.
    Failed {
        /// The reason.
        reason: String,
    },
    /// It is disabled.
    Disabled,
}

impl SourceState {
    /// Returns why it cannot be used, if there is a reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Retrying { reason } | Self::Failed { reason } => Some(reason),
            Self::Connecting | Self::Connected | Self::Disabled => None,
        }
    }

    /// Returns what to do about it, if anything.
    pub fn next_step(&self) -> Option<&'static str> {
        match self {
            Self::Retrying { .. } => Some("retrying automatically"),
            Self::Failed { .. } => Some("fix it, then reload"),
            Self::Connecting => Some("it has not responded yet; check again in a moment"),
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

/// The state of one source, with details.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceReport {
    /// Its name, which is also that of its pack.
    pub name: String,
    /// The kind of source, with its name.
    pub source: Source,
    /// The transport: `stdio`, `http` or `openapi`.
    pub transport: &'static str,
    /// Its state.
    pub state: SourceState,
    /// When it entered this state, once it has been started.
    pub since: Option<Timestamp>,
    /// The last error, even if it has recovered since.
    pub last_error: Option<String>,
    /// Why its tools are missing although it is connected.
    pub conflict: Option<String>,
    /// How many of its tools are in the catalog.
    pub tools: usize,
    /// Problems with individual tools, resources or prompts.
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

    /// Returns why its tools cannot be used, if there is a reason.
    pub fn reason(&self) -> Option<&str> {
        self.conflict.as_deref().or_else(|| self.state.reason())
    }
}
