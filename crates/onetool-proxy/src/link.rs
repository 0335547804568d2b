//! One connection to an upstream, and the way in which everything else gets hold of the one in force.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ServerPeerInfo;
use rmcp::service::Peer;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::breaker::Breaker;
use crate::calls::Calls;
use crate::scrub::Scrubber;

/// One connection.
pub(crate) struct Link {
    pub(crate) generation: u64,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) info: Arc<ServerPeerInfo>,
    /// Why the connection ended, once it has.
    pub(crate) lost: watch::Receiver<Option<Arc<str>>>,
}

impl Link {
    /// Returns whether the upstream speaks a revision without sessions.
    pub(crate) fn is_stateless(&self) -> bool {
        !self.info.protocol_version.has_initialize()
    }

    /// Waits for the end of the connection and returns its reason.
    pub(crate) async fn lost(&self) -> Arc<str> {
        let mut lost = self.lost.clone();
        let reason = lost.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_else(|| "the connection was closed".into())
    }
}

/// Whether there is a connection.
#[derive(Clone)]
pub(crate) enum Phase {
    /// Connecting.
    Connecting,
    /// Connected.
    Up(Arc<Link>),
    /// Not connected; retrying automatically.
    Down(Arc<str>),
    /// Not connected. A call after `again`, or the operator, starts another attempt.
    GivenUp { reason: Arc<str>, again: Instant },
}

/// What tools, resources and prompts need to reach their upstream, whichever connection is in force.
pub(crate) struct Access {
    pub(crate) name: Arc<str>,
    pub(crate) timeout: Duration,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) breaker: Breaker,
    pub(crate) phase: watch::Sender<Phase>,
    /// The operator wants a new attempt now.
    pub(crate) reconnect: Arc<Notify>,
    /// A call wants a new attempt, of an upstream that was given up.
    pub(crate) called: Notify,
    /// The newest generation that was found to be stale.
    pub(crate) stale: watch::Sender<Option<u64>>,
}
