//! The in-flight calls of a connection, so that messages which the upstream sends during a call reach that call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use onetool_core::sync::Unpoisoned as _;
use onetool_core::{InputRequest, LogLevel, Progress};
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressToken, RequestId,
};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Maximum number of queued events of one call; further progress and log messages are dropped.
const MAX_QUEUED_EVENTS: usize = 256;

/// A message that an upstream sends during a call.
pub(crate) enum Event {
    Progress(Progress),
    Log { level: LogLevel, logger: Option<String>, data: Value },
    Input { request: InputRequest, reply: oneshot::Sender<Result<Value, String>> },
}

/// An in-flight call. It is attached to its request until the transport, which is where the request gets its id.
pub(crate) struct InFlightCall {
    pub(crate) events: mpsc::Sender<Event>,
    ids: OnceLock<(RequestId, Option<ProgressToken>)>,
}

/// The in-flight calls of one connection.
#[derive(Default)]
pub(crate) struct InFlightCalls {
    routes: Mutex<Routes>,
    /// Notified whenever a call ends.
    call_ended: Notify,
    /// Canceled when the upstream will not send anything more.
    pub(crate) closed: CancellationToken,
}

#[derive(Default)]
struct Routes {
    by_request: HashMap<RequestId, Arc<InFlightCall>>,
    by_token: HashMap<ProgressToken, Arc<InFlightCall>>,
}

/// Unregisters a call when it is dropped.
pub(crate) struct CallGuard {
    calls: Arc<InFlightCalls>,
    pub(crate) call: Arc<InFlightCall>,
}

const NO_CALL: &str = "there is no in-flight call it could belong to";
const SEVERAL_CALLS: &str = "several calls are in flight and it does not say which one it belongs to";

impl InFlightCalls {
    /// Creates a call, to be inserted into its request's extensions, and the receiver of its events.
    pub(crate) fn begin(self: &Arc<Self>) -> (CallGuard, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(MAX_QUEUED_EVENTS);
        let call = Arc::new(InFlightCall { events, ids: OnceLock::new() });
        (CallGuard { calls: self.clone(), call }, receiver)
    }

    /// Registers the ids of a request that is about to be sent.
    pub(crate) fn register(&self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        let Some(call) = request.request.extensions().get::<Arc<InFlightCall>>() else { return };
        let token = request.request.get_meta().get_progress_token();
        let mut routes = self.lock();
        if let Some(token) = &token {
            routes.by_token.insert(token.clone(), call.clone());
        }
        routes.by_request.insert(request.id.clone(), call.clone());
        let _ = call.ids.set((request.id.clone(), token));
    }

    /// Returns the call with this progress token.
    pub(crate) fn by_token(&self, token: &ProgressToken) -> Option<Arc<InFlightCall>> {
        self.lock().by_token.get(token).cloned()
    }

    /// Returns the call with this request id or, without an id, the only call in flight.
    ///
    /// # Errors
    /// If there is no such call, or if several are in flight and no id is given.
    pub(crate) fn find(&self, request: Option<&RequestId>) -> Result<Arc<InFlightCall>, &'static str> {
        let routes = self.lock();
        if let Some(id) = request {
            return routes.by_request.get(id).cloned().ok_or(NO_CALL);
        }
        let mut all = routes.by_request.values();
        match (all.next(), all.next()) {
            (Some(call), None) => Ok(call.clone()),
            (None, _) => Err(NO_CALL),
            (Some(_), Some(_)) => Err(SEVERAL_CALLS),
        }
    }

    /// Waits until no call is in flight.
    pub(crate) async fn idle(&self) {
        loop {
            let call_ended = self.call_ended.notified();
            if self.lock().by_request.is_empty() {
                return;
            }
            call_ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unpoisoned()
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let Some((id, token)) = self.call.ids.get() else { return };
        let mut routes = self.calls.lock();
        routes.by_request.remove(id);
        if let Some(token) = token {
            routes.by_token.remove(token);
        }
        drop(routes);
        self.calls.call_ended.notify_waiters();
    }
}
