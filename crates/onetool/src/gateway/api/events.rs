//! Live events for the page: changes to the catalog, to servers and to the active set, and finished calls.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use onetool_core::Caller;
use onetool_core::state::{SessionKey, SessionWatch};
use onetool_server::catalog::{Catalog, Change};
use onetool_store::store::CallWatch;
use serde::Serialize;
use tokio::sync::watch;

use super::servers::{self, ServerInfo};
use super::{Gateway, Who};
use crate::gateway::Inner;
use crate::gateway::call_history::{CallSummary, summary};

/// Interval of comments on an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An event for the page.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum GatewayEvent {
    /// The list of tools changed.
    ToolsChanged,
    /// The caller's active set changed.
    ActiveChanged,
    /// The state of a server changed.
    ServerHealth { server: ServerInfo },
    /// A call finished.
    CallFinished { call: CallSummary },
}

/// Streams events from now on. The stream starts with a comment, so that the client knows that it is connected.
pub(super) async fn stream(State(inner): Gateway, Extension(caller): Who) -> Response {
    let shutdown = inner.server.shutdown_token().clone();
    let listener = Listener::new(inner, caller);
    let events = futures::stream::unfold(listener, async |mut listener| {
        listener.next().await.map(|event| (event, listener))
    });
    let hello = futures::stream::once(async { Event::default().comment("listening") });
    let events = events.filter_map(async |event| Event::default().json_data(&event).ok());
    let stream = hello.chain(events.take_until(shutdown.cancelled_owned())).map(Ok::<_, Infallible>);
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Collects the events that one caller may see.
struct Listener {
    inner: Arc<Inner>,
    sources: watch::Receiver<()>,
    lists: watch::Receiver<Change>,
    loads: SessionWatch,
    calls: CallWatch,
    /// The state that the caller was last notified of.
    servers: Vec<ServerInfo>,
    catalog: Weak<Catalog>,
    pending: VecDeque<GatewayEvent>,
}

impl Listener {
    fn new(inner: Arc<Inner>, caller: Caller) -> Self {
        let (sources, lists) = (inner.sources.changes(), inner.server.changes());
        let calls = inner.history.watch(&caller);
        let loads = inner.server.active().watch(vec![SessionKey::Every(caller)]);
        let servers = servers::all(&inner.sources);
        let catalog = Arc::downgrade(&inner.server.catalog());
        Self { inner, sources, lists, loads, calls, servers, catalog, pending: VecDeque::new() }
    }

    /// Waits for the next event; `None` when the gateway is gone.
    async fn next(&mut self) -> Option<GatewayEvent> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            tokio::select! {
                changed = self.sources.changed() => {
                    changed.ok()?;
                    self.check_sources();
                    self.check_catalog();
                }
                changed = self.lists.changed() => {
                    changed.ok()?;
                    self.check_catalog();
                }
                () = self.loads.changed() => self.pending.push_back(GatewayEvent::ActiveChanged),
                call = self.calls.next() => {
                    self.pending.push_back(GatewayEvent::CallFinished { call: summary(call?) });
                }
            }
        }
    }

    fn check_sources(&mut self) {
        let now = servers::all(&self.inner.sources);
        let is_same_list = now.iter().map(|it| &it.name).eq(self.servers.iter().map(|it| &it.name));
        for server in now.iter().filter(|server| !self.servers.contains(server)) {
            self.pending.push_back(GatewayEvent::ServerHealth { server: server.clone() });
        }
        if !is_same_list {
            // A removed server has no state to report, so the page fetches the list again.
            self.pending.push_back(GatewayEvent::ToolsChanged);
        }
        self.servers = now;
    }

    fn check_catalog(&mut self) {
        let now = Arc::downgrade(&self.inner.server.catalog());
        if !now.ptr_eq(&self.catalog) {
            self.catalog = now;
            self.pending.push_back(GatewayEvent::ToolsChanged);
        }
    }
}
