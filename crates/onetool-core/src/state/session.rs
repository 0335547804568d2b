//! What a session is, and what it takes to resume one.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use crate::{CallContext, Caller, JsonObject, LogLevel, SessionId, ToolName};

/// The tools that a session loaded, in the order of loading.
pub type ActiveSet = IndexSet<ToolName>;

/// Whose list of tools it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionKey {
    /// An MCP session.
    Session(SessionId),
    /// Everything that one caller sends in revisions without sessions.
    Caller(Caller),
    /// All sessions of a caller: what a person chose on the page.
    Every(Caller),
}

impl SessionKey {
    /// Returns the session that a call belongs to; in revisions without sessions, the caller.
    pub fn from_call(cx: &CallContext) -> Self {
        cx.session().map_or_else(|| Self::Caller(cx.caller().clone()), |id| Self::Session(id.clone()))
    }
}

/// What a server needs to resume a session that another one began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    /// The parameters of the client's `initialize` request: its name, its capabilities and the protocol revision.
    pub initialize: JsonObject,
    /// The least severe level that the client wants to log.
    pub log_level: Option<LogLevel>,
    /// The URIs of the resources that the client subscribed to.
    pub watched: Vec<String>,
}
