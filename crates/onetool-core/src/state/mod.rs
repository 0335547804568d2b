//! What the sessions of a server share, behind a trait, so that several servers can share it too.

mod error;
mod keys;
mod local;
mod session;
mod watch;

use std::sync::Arc;

use crate::{BoxFuture, SessionId, ToolName};

pub use error::StoreError;
pub use keys::SealingKeys;
pub use local::{LocalSessions, MAX_SESSIONS};
pub use session::{ActiveSet, SessionKey, SessionState};
pub use watch::{SessionFeed, SessionWatch};

/// The outcome of an operation of a store.
///
/// The operation is submitted when the method is called, not when this future is polled. Dropping the future does not
/// cancel the operation.
pub type Reply<T> = BoxFuture<'static, Result<T, StoreError>>;

/// Returns a reply that is already there.
pub fn ready<T: Send + 'static>(outcome: Result<T, StoreError>) -> Reply<T> {
    Box::pin(std::future::ready(outcome))
}

/// What the sessions of a server share: the tools they loaded, the keys that seal request state, and what it takes to
/// resume a session elsewhere.
///
/// A server calls these methods while it answers requests. They can be called from any thread, with or without an async
/// runtime, and do not block: what takes time happens in the reply. Operations take effect in the order in which they
/// were submitted. An error means that the operation had no effect, and that the server carries on without it.
pub trait SessionStore: Send + Sync + 'static {
    /// Returns the tools that a session loaded, in the order of loading. Some of them may not exist anymore.
    fn active(&self, session: &SessionKey) -> Reply<Arc<ActiveSet>>;

    /// Removes the tools in `unload` from the list of a session, then adds those in `load`. Returns whether anything
    /// changed; if so, those who watch the session are notified.
    fn change_active(&self, session: &SessionKey, load: &[ToolName], unload: &[ToolName]) -> Reply<bool>;

    /// Returns whether some session may have loaded a tool, without waiting for anything.
    ///
    /// If in doubt, it returns true; then clients are notified of a changed list although they see no difference.
    fn may_be_active(&self, tool: &ToolName) -> bool {
        let _ = tool;
        true
    }

    /// Starts to watch the lists of some sessions.
    fn watch_active(&self, sessions: Vec<SessionKey>) -> SessionWatch;

    /// Returns the keys that seal request state. There is always at least one.
    fn sealing_keys(&self) -> Reply<Arc<SealingKeys>>;

    /// Returns the saved state of a session, if there is any.
    fn session(&self, id: &SessionId) -> Reply<Option<Arc<SessionState>>>;

    /// Saves the state of a session. The server does this whenever the state changes.
    fn save_session(&self, id: &SessionId, state: SessionState) -> Reply<()>;

    /// Deletes everything about a session that ended: its state and the tools it loaded.
    fn end_session(&self, id: &SessionId) -> Reply<()>;
}
