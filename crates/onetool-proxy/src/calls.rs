//! Which calls are under way on a connection, so that what the upstream says meanwhile finds its way to them.

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

/// Reports of one call that may wait to be passed on; a flood loses some.
const WAITING_EVENTS: usize = 256;

/// What an upstream says in the middle of a call.
pub(crate) enum Event {
    Progress(Progress),
    Log { level: LogLevel, logger: Option<String>, data: Value },
    Ask { request: InputRequest, answer: oneshot::Sender<Result<Value, String>> },
}

/// A call under way. It travels with its request to the transport, which is where the request gets its id.
pub(crate) struct Call {
    pub(crate) events: mpsc::Sender<Event>,
    ids: OnceLock<(RequestId, Option<ProgressToken>)>,
}

/// The calls under way on one connection.
#[derive(Default)]
pub(crate) struct Calls {
    routes: Mutex<Routes>,
    /// Told whenever a call is over.
    over: Notify,
    /// Cancelled when nothing more will come from the upstream.
    pub(crate) ended: CancellationToken,
}

#[derive(Default)]
struct Routes {
    by_request: HashMap<RequestId, Arc<Call>>,
    by_token: HashMap<ProgressToken, Arc<Call>>,
}

/// Takes a call out of the list when it is over, however it ends.
pub(crate) struct CallEntry {
    calls: Arc<Calls>,
    pub(crate) call: Arc<Call>,
}

/// Why a question of the upstream can be put to nobody.
pub(crate) const NO_CALL: &str = "no call is under way that the question could belong to";
pub(crate) const MANY_CALLS: &str =
    "several calls are under way and the question does not say to which of them it belongs";

impl Calls {
    /// Makes a call, to be put into its request's extensions.
    pub(crate) fn begin(self: &Arc<Self>) -> (CallEntry, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(WAITING_EVENTS);
        let call = Arc::new(Call { events, ids: OnceLock::new() });
        (CallEntry { calls: self.clone(), call }, receiver)
    }

    /// Takes note of the ids of a request that is about to be sent.
    pub(crate) fn register(&self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        let Some(call) = request.request.extensions().get::<Arc<Call>>() else { return };
        let token = request.request.get_meta().get_progress_token();
        let mut routes = self.lock();
        if let Some(token) = &token {
            routes.by_token.insert(token.clone(), call.clone());
        }
        routes.by_request.insert(request.id.clone(), call.clone());
        let _ = call.ids.set((request.id.clone(), token));
    }

    /// Returns the call that asked for reports under this token.
    pub(crate) fn by_token(&self, token: &ProgressToken) -> Option<Arc<Call>> {
        self.lock().by_token.get(token).cloned()
    }

    /// Returns the call of that request or, if none is named, the only one under way.
    pub(crate) fn cause(&self, request: Option<&RequestId>) -> Result<Arc<Call>, &'static str> {
        let routes = self.lock();
        if let Some(id) = request {
            return routes.by_request.get(id).cloned().ok_or(NO_CALL);
        }
        let mut all = routes.by_request.values();
        match (all.next(), all.next()) {
            (Some(call), None) => Ok(call.clone()),
            (None, _) => Err(NO_CALL),
            (Some(_), Some(_)) => Err(MANY_CALLS),
        }
    }

    /// Waits until no call is under way.
    pub(crate) async fn idle(&self) {
        loop {
            let over = self.over.notified();
            if self.lock().by_request.is_empty() {
                return;
            }
            over.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unpoisoned()
    }
}

impl Drop for CallEntry {
    fn drop(&mut self) {
        let Some((id, token)) = self.call.ids.get() else { return };
        let mut routes = self.calls.lock();
        routes.by_request.remove(id);
        if let Some(token) = token {
            routes.by_token.remove(token);
        }
        drop(routes);
        self.calls.over.notify_waiters();
    }
}
