//! One connection to an upstream, and the handle that always uses the current one.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::Redactor;
use rmcp::RoleClient;
use rmcp::model::ServerPeerInfo;
use rmcp::service::Peer;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::breaker::Breaker;
use crate::in_flight::InFlightCalls;

/// The part of a connection that calls use.
pub(crate) struct Link {
    /// Increases with every connection of the upstream.
    pub(crate) generation: u64,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<InFlightCalls>,
    pub(crate) info: Arc<ServerPeerInfo>,
    /// Why the connection ended, once it has.
    pub(crate) lost: watch::Receiver<Option<Arc<str>>>,
}

impl Link {
    /// Returns whether the upstream uses a protocol revision without sessions.
    pub(crate) fn is_stateless(&self) -> bool {
        !self.info.protocol_version.has_initialize()
    }

    /// Waits for the end of the connection and returns the reason.
    pub(crate) async fn lost(&self) -> Arc<str> {
        let mut lost = self.lost.clone();
        let reason = lost.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_else(|| "the connection was closed".into())
    }
}

/// The state of the connection, as calls see it.
#[derive(Clone)]
pub(crate) enum Phase {
    /// Connecting.
    Connecting,
    /// Connected.
    Up(Arc<Link>),
    /// Not connected; retrying automatically.
    Down(Arc<str>),
    /// Not connected. A call after `retry_at`, or the operator, starts another attempt.
    GivenUp { reason: Arc<str>, retry_at: Instant },
}

/// How tools, resources and prompts reach their upstream, over whichever connection is current.
pub(crate) struct UpstreamHandle {
    pub(crate) name: Arc<str>,
    pub(crate) timeout: Duration,
    pub(crate) redactor: Redactor,
    pub(crate) breaker: Breaker,
    pub(crate) phase: watch::Sender<Phase>,
    /// Notified when the operator wants a new attempt now.
    pub(crate) reconnect: Arc<Notify>,
    /// Notified when a call wants a new attempt after [`Phase::GivenUp`].
    pub(crate) retry: Notify,
    /// The newest generation whose session turned out to be stale.
    pub(crate) stale: watch::Sender<Option<u64>>,
}
