//! Calls of stateless clients that request input while they run: they wait here until the client sends another request
//! with the input.
//!
//! Servers of older revisions, and code, request input in the middle of a call. Neither can be run again with the input.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use onetool_core::{BoxFuture, CallHost, Caller, ClientInfo, InputError, InputRequest, LogLevel, Progress};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use super::call::ClientCall;

/// How long a call waits for the client's next request.
const INPUT_TIMEOUT: Duration = Duration::from_mins(10);
/// Maximum number of waiting calls, in total and per caller.
const MAX_PARKED: usize = 256;
const MAX_PER_CALLER: usize = 32;
/// Maximum number of open requests for input of one call.
const MAX_OPEN: usize = 16;

/// The waiting calls, by random names.
#[derive(Default)]
pub(crate) struct ParkedCalls(Arc<Mutex<HashMap<String, Parked>>>);

struct Parked {
    caller: Caller,
    call: Box<dyn Any + Send>,
    /// Removes the call when it has waited too long.
    _timer: AbortOnDropHandle<()>,
}

impl ParkedCalls {
    /// Stores a call and returns its name, or returns the call if too many are waiting.
    pub(super) fn park<T: Send + 'static>(
        &self,
        caller: &Caller,
        call: InteractiveCall<T>,
    ) -> Result<String, InteractiveCall<T>> {
        let name = format!("{:032x}", u128::from_ne_bytes(crate::random::bytes()));
        let mut calls = lock(&self.0);
        let own = calls.values().filter(|parked| parked.caller == *caller).count();
        if calls.len() >= MAX_PARKED || own >= MAX_PER_CALLER {
            return Err(call);
        }
        let (all, expired) = (Arc::downgrade(&self.0), name.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(INPUT_TIMEOUT).await;
            if let Some(calls) = all.upgrade() {
                // Dropped after the lock is released, because it contains this task.
                let removed = lock(&calls).remove(&expired);
                drop(removed);
            }
        });
        let parked =
            Parked { caller: caller.clone(), call: Box::new(call), _timer: AbortOnDropHandle::new(timer) };
        calls.insert(name.clone(), parked);
        Ok(name)
    }

    /// Removes and returns a waiting call, if it exists.
    pub(super) fn take<T: Send + 'static>(&self, name: &str) -> Option<InteractiveCall<T>> {
        let parked = lock(&self.0).remove(name)?;
        parked.call.downcast().ok().map(|call| *call)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
}

/// A request for input that waits for its response.
struct Question {
    request: InputRequest,
    response: oneshot::Sender<Value>,
}

/// A call that can request input while it runs.
pub(super) struct InteractiveCall<T> {
    task: AbortOnDropHandle<T>,
    host: Arc<InteractiveHost>,
    questions: mpsc::Receiver<Question>,
    open: BTreeMap<String, Question>,
    count: usize,
}

/// The state of a call after a request of the client.
pub(super) enum Step<T> {
    Done(T),
    /// The client must provide input first.
    Ask(BTreeMap<String, InputRequest>),
    /// The call panicked, or the client canceled it.
    Ended,
}

impl<T: Send + 'static> InteractiveCall<T> {
    /// Starts a call.
    pub(super) fn start<F>(client: ClientInfo, serve: impl FnOnce(Arc<dyn CallHost>) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (sender, questions) = mpsc::channel(MAX_OPEN);
        let host = Arc::new(InteractiveHost {
            client,
            current: Mutex::default(),
            questions: sender,
            canceled: CancellationToken::new(),
        });
        let task = AbortOnDropHandle::new(tokio::spawn(serve(host.clone()).in_current_span()));
        Self { task, host, questions, open: BTreeMap::new(), count: 0 }
    }

    /// Continues a call with the client's responses until it finishes or requests more input.
    pub(super) async fn resume(
        &mut self,
        client: Arc<ClientCall>,
        mut responses: BTreeMap<String, Value>,
    ) -> Step<T> {
        *lock(&self.host.current) = Some(client.clone());
        for (key, question) in std::mem::take(&mut self.open) {
            match responses.remove(&key) {
                // Fails if the call no longer waits for it, which is fine.
                Some(response) => drop(question.response.send(response)),
                None => drop(self.open.insert(key, question)),
            }
        }
        let step = if self.open.is_empty() { self.next(&client).await } else { None };
        *lock(&self.host.current) = None;
        step.unwrap_or_else(|| {
            Step::Ask(
                self.open.iter().map(|(key, question)| (key.clone(), question.request.clone())).collect(),
            )
        })
    }

    /// Waits until the call finishes or requests input.
    async fn next(&mut self, client: &ClientCall) -> Option<Step<T>> {
        let first = tokio::select! {
            biased;
            done = &mut self.task => return Some(done.map_or(Step::Ended, Step::Done)),
            () = client.cancelled() => {
                self.host.canceled.cancel();
                return Some(Step::Ended);
            }
            Some(question) = self.questions.recv() => question,
        };
        // Concurrent calls made by code may request input at the same time.
        let others = std::iter::from_fn(|| self.questions.try_recv().ok());
        for question in std::iter::once(first).chain(others) {
            self.count += 1;
            self.open.insert(format!("question-{}", self.count), question);
        }
        None
    }
}

/// The client of an interactive call. It is connected only while a request of the client waits for the call.
struct InteractiveHost {
    client: ClientInfo,
    current: Mutex<Option<Arc<ClientCall>>>,
    questions: mpsc::Sender<Question>,
    canceled: CancellationToken,
}

impl InteractiveHost {
    fn current(&self) -> Option<Arc<ClientCall>> {
        lock(&self.current).clone()
    }
}

impl CallHost for InteractiveHost {
    fn client(&self) -> ClientInfo {
        self.client.clone()
    }

    fn is_cancelled(&self) -> bool {
        self.canceled.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.canceled.cancelled())
    }

    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(client) = self.current() {
                client.progress(progress).await;
            }
        })
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        let logger = logger.map(str::to_owned);
        Box::pin(async move {
            if let Some(client) = self.current() {
                client.log(level, logger.as_deref(), data).await;
            }
        })
    }

    fn ask(&self, _: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        Box::pin(std::future::ready(None))
    }

    fn ask_in_place(&self, request: InputRequest) -> BoxFuture<'_, Result<Value, InputError>> {
        Box::pin(async move {
            let refused = |reason: &str| InputError::Refused { reason: reason.to_owned() };
            let (sender, response) = oneshot::channel();
            let sent = self.questions.try_send(Question { request, response: sender });
            sent.map_err(|_| refused("the call has too many open requests for input"))?;
            match timeout(INPUT_TIMEOUT, response).await {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(_)) => Err(refused("too many calls are waiting for input; retry later")),
                Err(_) => Err(refused("no response within ten minutes")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> InteractiveCall<()> {
        InteractiveCall::start(ClientInfo::default(), |_| std::future::pending())
    }

    #[tokio::test(start_paused = true)]
    async fn seam_11_one_caller_parks_a_bounded_number_of_calls_and_nobody_forever() {
        let calls = ParkedCalls::default();
        let (greedy, other) = (Caller::default(), Caller { profile: "other".into(), ..Caller::default() });
        let names: Vec<String> =
            (0..MAX_PER_CALLER).filter_map(|_| calls.park(&greedy, call()).ok()).collect();
        assert_eq!(names.len(), MAX_PER_CALLER);
        assert!(calls.park(&greedy, call()).is_err());
        let others = calls.park(&other, call()).ok();
        assert!(others.is_some(), "another caller has room");
        assert!(calls.take::<()>(&names[0]).is_some());
        assert!(calls.park(&greedy, call()).is_ok(), "a resumed call no longer counts");
        tokio::time::sleep(INPUT_TIMEOUT * 2).await;
        assert!(lock(&calls.0).is_empty());
    }
}
