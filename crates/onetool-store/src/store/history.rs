//! Calls that ended, and the announcements of them.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::clock::Timestamp;
use onetool_core::{Caller, JsonObject, ToolName, ToolOutput};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of calls that the history keeps, without pinned ones; the oldest are deleted first.
pub const MAX_CALLS: usize = 500;
/// Maximum number of pinned calls.
pub const MAX_PINNED_CALLS: usize = 100;
/// Announcements that a listener may be behind before it misses some.
const BACKLOG: usize = 256;

/// A call that just ended.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The tool.
    pub tool: ToolName,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// Whether it failed.
    pub is_error: bool,
    /// Who made it.
    pub surface: Surface,
    /// What went in and came out; a call without it is announced and not kept.
    pub content: Option<CallContent>,
}

/// What went into a call and came out, as far as it may be kept: secrets are masked, large values truncated.
#[derive(Debug, Clone, PartialEq)]
pub struct CallContent {
    /// The arguments.
    pub arguments: JsonObject,
    /// The result.
    pub output: ToolOutput,
}

/// Who made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// An agent.
    Agent,
    /// Code that an agent ran.
    Code,
    /// A person at the page.
    Page,
}

impl Surface {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Code => "code",
            Self::Page => "page",
        }
    }
}

/// A call in the history, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// Identifies the call.
    pub id: String,
    /// The tool.
    pub tool: ToolName,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// Whether it failed.
    pub is_error: bool,
    /// Who made it.
    pub surface: Surface,
    /// Whether it stays when newer ones come.
    pub is_pinned: bool,
}

/// A call in the history with its content.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// The call.
    pub call: PastCall,
    /// What went in and came out.
    pub content: CallContent,
}

/// Which calls of the history to return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// At most this many.
    pub limit: Option<usize>,
}

/// The side of a store that announces calls.
#[derive(Debug, Clone)]
pub struct CallFeed(broadcast::Sender<(Arc<str>, PastCall)>);

impl Default for CallFeed {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl CallFeed {
    /// Announces a call to those who listen to its owner's principal.
    pub fn announce(&self, owner: &Caller, call: PastCall) {
        // Nobody may be listening.
        let _ = self.0.send((owner.principal.clone(), call));
    }

    /// Returns whether anyone listens.
    pub fn has_listeners(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Starts to listen to the calls of the owner's principal.
    pub fn watch(&self, owner: &Caller) -> CallWatch {
        CallWatch { principal: owner.principal.clone(), calls: self.0.subscribe() }
    }
}

/// Listens to the calls of one principal.
#[derive(Debug)]
pub struct CallWatch {
    principal: Arc<str>,
    calls: broadcast::Receiver<(Arc<str>, PastCall)>,
}

impl CallWatch {
    /// Waits for the next call; `None` if there will be no more. A listener that is far behind misses some.
    pub async fn next(&mut self) -> Option<PastCall> {
        loop {
            match self.calls.recv().await {
                Ok((principal, call)) if principal == self.principal => return Some(call),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => tracing::debug!(missed, "a listener missed calls"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
