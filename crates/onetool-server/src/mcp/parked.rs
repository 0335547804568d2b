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
const PATIENCE: Duration = Duration::from_mins(10);
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
    talk: Box<dyn Any + Send>,
    /// Removes the call when it has waited too long.
    _timer: AbortOnDropHandle<()>,
}

impl ParkedCalls {
    /// Stores a call and returns its name, or returns the call if too many are waiting.
    pub(super) fn park<T: Send + 'static>(&self, caller: &Caller, talk: Talk<T>) -> Result<String, Talk<T>> {
        let name = format!("{:032x}", u128::from_ne_bytes(crate::random::bytes()));
        let mut calls = lock(&self.0);
        let own = calls.values().filter(|parked| parked.caller == *caller).count();
        if calls.len() >= MAX_PARKED || own >= MAX_PER_CALLER {
            return Err(talk);
        }
        let (all, forgotten) = (Arc::downgrade(&self.0), name.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(calls) = all.upgrade() {
                // Dropped after the lock is released, because it contains this task.
                let over = lock(&calls).remove(&forgotten);
                drop(over);
            }
        });
        let parked =
            Parked { caller: caller.clone(), talk: Box::new(talk), _timer: AbortOnDropHandle::new(timer) };
        calls.insert(name.clone(), parked);
        Ok(name)
    }

    /// Removes and returns a waiting call, if it exists.
    pub(super) fn take<T: Send + 'static>(&self, name: &str) -> Option<Talk<T>> {
        let parked = lock(&self.0).remove(name)?;
        parked.talk.downcast().ok().map(|talk| *talk)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
}

/// A request for input that waits for its response.
struct Question {
    request: InputRequest,
    answer: oneshot::Sender<Value>,
}

/// A call that can request input while it runs.
pub(super) struct Talk<T> {
    call: AbortOnDropHandle<T>,
    host: Arc<TalkHost>,
    asked: mpsc::Receiver<Question>,
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

impl<T: Send + 'static> Talk<T> {
    /// Starts a call.
    pub(super) fn begin<F>(client: ClientInfo, serve: impl FnOnce(Arc<dyn CallHost>) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (questions, asked) = mpsc::channel(MAX_OPEN);
        let host =
            TalkHost { client, current: Mutex::default(), questions, given_up: CancellationToken::new() };
        let host = Arc::new(host);
        let call = AbortOnDropHandle::new(tokio::spawn(serve(host.clone()).in_current_span()));
        Self { call, host, asked, open: BTreeMap::new(), count: 0 }
    }

    /// Continues a call with the client's responses until it finishes or requests more input.
    pub(super) async fn go_on(
        &mut self,
        client: Arc<ClientCall>,
        mut answers: BTreeMap<String, Value>,
    ) -> Step<T> {
        *lock(&self.host.current) = Some(client.clone());
        for (key, question) in std::mem::take(&mut self.open) {
            match answers.remove(&key) {
                // Fails if the call no longer waits for it, which is fine.
                Some(answer) => drop(question.answer.send(answer)),
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
        let asked = tokio::select! {
            biased;
            done = &mut self.call => return Some(done.map_or(Step::Ended, Step::Done)),
            () = client.cancelled() => {
                self.host.given_up.cancel();
                return Some(Step::Ended);
            }
            Some(asked) = self.asked.recv() => asked,
        };
        // Concurrent calls made by code may request input at the same time.
        let others = std::iter::from_fn(|| self.asked.try_recv().ok());
        for question in std::iter::once(asked).chain(others) {
            self.count += 1;
            self.open.insert(format!("question-{}", self.count), question);
        }
        None
    }
}

/// The client of such a call, which is connected only while it waits for a request.
struct TalkHost {
    client: ClientInfo,
    current: Mutex<Option<Arc<ClientCall>>>,
    questions: mpsc::Sender<Question>,
    given_up: CancellationToken,
}

impl TalkHost {
    fn current(&self) -> Option<Arc<ClientCall>> {
        lock(&self.current).clone()
    }
}

impl CallHost for TalkHost {
    fn client(&self) -> ClientInfo {
        self.client.clone()
    }

    fn is_cancelled(&self) -> bool {
        self.given_up.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.given_up.cancelled())
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
            let (answer, answered) = oneshot::channel();
            let sent = self.questions.try_send(Question { request, answer });
            sent.map_err(|_| refused("the call has too many open requests for input"))?;
            match timeout(PATIENCE, answered).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(_)) => Err(refused("too many calls are waiting for input; retry later")),
                Err(_) => Err(refused("no response within ten minutes")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Talk<()> {
        Talk::begin(ClientInfo::default(), |_| std::future::pending())
    }

    #[tokio::test(start_paused = true)]
    async fn seam_11_one_caller_parks_a_bounded_number_of_calls_and_nobody_forever() {
        let calls = ParkedCalls::default();
        let (greedy, other) = (Caller::default(), Caller { profile: "other".into(), ..Caller::default() });
        let names: Vec<String> =
            (0..MAX_PER_CALLER).filter_map(|_| calls.park(&greedy, talk()).ok()).collect();
        assert_eq!(names.len(), MAX_PER_CALLER);
        assert!(calls.park(&greedy, talk()).is_err());
        let others = calls.park(&other, talk()).ok();
        assert!(others.is_some(), "another caller has room");
        assert!(calls.take::<()>(&names[0]).is_some());
        assert!(calls.park(&greedy, talk()).is_ok(), "a resumed call no longer counts");
        tokio::time::sleep(PATIENCE * 2).await;
        assert!(lock(&calls.0).is_empty());
    }
}
