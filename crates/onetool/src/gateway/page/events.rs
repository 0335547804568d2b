//! What happens, as the page hears it: changes of the catalog, of sources, of the active set, and calls.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use futures::Stream;
use onetool_core::Caller;
use onetool_web::{GatewayEvent, ServerInfo};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::history::Finished;
use super::servers;
use crate::gateway::Inner;
use onetool_server::catalog::{Catalog, Change, SessionKey};

/// Returns what happens from now on.
pub(super) fn stream(inner: Arc<Inner>, caller: Caller) -> impl Stream<Item = GatewayEvent> + Send {
    let ear = Ear::new(inner, caller);
    futures::stream::unfold(ear, async |mut ear| ear.next().await.map(|event| (event, ear)))
}

/// Hears everything that one caller may hear.
struct Ear {
    inner: Arc<Inner>,
    caller: Caller,
    sources: watch::Receiver<()>,
    lists: watch::Receiver<Change>,
    loads: broadcast::Receiver<SessionKey>,
    calls: broadcast::Receiver<Finished>,
    /// What the caller knows already.
    servers: Vec<ServerInfo>,
    catalog: Weak<Catalog>,
    heard: VecDeque<GatewayEvent>,
}

impl Ear {
    fn new(inner: Arc<Inner>, caller: Caller) -> Self {
        let (sources, lists) = (inner.sources.news(), inner.server.changes());
        let (loads, calls) = (inner.server.active().subscribe(), inner.history.subscribe());
        let servers = servers::all(&inner.sources);
        let catalog = Arc::downgrade(&inner.server.catalog());
        Self { inner, caller, sources, lists, loads, calls, servers, catalog, heard: VecDeque::new() }
    }

    /// Waits for the next event; `None` when nothing can happen any more.
    async fn next(&mut self) -> Option<GatewayEvent> {
        loop {
            if let Some(event) = self.heard.pop_front() {
                return Some(event);
            }
            tokio::select! {
                changed = self.sources.changed() => {
                    changed.ok()?;
                    self.look_at_sources();
                    self.look_at_catalog();
                }
                changed = self.lists.changed() => {
                    changed.ok()?;
                    self.look_at_catalog();
                }
                loaded = self.loads.recv() => match loaded {
                    Ok(SessionKey::Every(caller)) if caller == self.caller => {
                        self.heard.push_back(GatewayEvent::ActiveChanged);
                    }
                    Ok(_) => {}
                    // Whoever missed some asks once too often rather than never.
                    Err(RecvError::Lagged(_)) => self.heard.push_back(GatewayEvent::ActiveChanged),
                    Err(RecvError::Closed) => return None,
                },
                call = self.calls.recv() => match call {
                    Ok(Finished { owner, call }) if owner == self.caller.principal => {
                        self.heard.push_back(GatewayEvent::CallFinished { call });
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(missed)) => tracing::debug!(missed, "the page missed calls"),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    fn look_at_sources(&mut self) {
        let now = servers::all(&self.inner.sources);
        let is_same_list = now.iter().map(|it| &it.name).eq(self.servers.iter().map(|it| &it.name));
        for server in now.iter().filter(|server| !self.servers.contains(server)) {
            self.heard.push_back(GatewayEvent::ServerHealth { server: server.clone() });
        }
        if !is_same_list {
            // A server that is gone has no state to tell; the page asks for the list again.
            self.heard.push_back(GatewayEvent::ToolsChanged);
        }
        self.servers = now;
    }

    fn look_at_catalog(&mut self) {
        let now = Arc::downgrade(&self.inner.server.catalog());
        if !now.ptr_eq(&self.catalog) {
            self.catalog = now;
            self.heard.push_back(GatewayEvent::ToolsChanged);
        }
    }
}
