//! Calls of stateless clients that ask something in the middle: they wait here while the client has the question, and go
//! on when it comes back with the answer.
//!
//! Servers of older revisions ask in the middle of a call, and so does code. Neither can be run again with the answer.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use onetool_core::{BoxFuture, CallHost, ClientInfo, InputError, InputRequest, LogLevel, Progress};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use super::call::ClientCall;

/// How long a call waits for its client to come back.
const PATIENCE: Duration = Duration::from_mins(10);
/// Calls that may wait at the same time.
const MAX_PARKED: usize = 256;
/// Questions of one call that may be open at the same time.
const MAX_OPEN: usize = 16;

/// The calls that wait, by names that cannot be guessed.
#[derive(Default)]
pub(crate) struct ParkedCalls(Arc<Mutex<HashMap<String, Box<dyn Any + Send>>>>);

impl ParkedCalls {
    /// Keeps a call and returns its name; gives it back where too many wait.
    pub(super) fn park<T: Send + 'static>(&self, talk: Talk<T>) -> Result<String, Talk<T>> {
        let name = format!("{:032x}", u128::from_ne_bytes(crate::random::bytes()));
        let mut calls = lock(&self.0);
        if calls.len() >= MAX_PARKED {
            return Err(talk);
        }
        calls.insert(name.clone(), Box::new(talk));
        let (calls, forgotten) = (Arc::downgrade(&self.0), name.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(calls) = calls.upgrade() {
                lock(&calls).remove(&forgotten);
            }
        });
        Ok(name)
    }

    /// Takes a call that waits; none if it is over, or never was.
    pub(super) fn take<T: Send + 'static>(&self, name: &str) -> Option<Talk<T>> {
        let talk = lock(&self.0).remove(name)?;
        talk.downcast().ok().map(|talk| *talk)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
}

/// A question that waits for its answer.
struct Question {
    request: InputRequest,
    answer: oneshot::Sender<Value>,
}

/// A call that can ask its client in the middle.
pub(super) struct Talk<T> {
    call: AbortOnDropHandle<T>,
    host: Arc<TalkHost>,
    asked: mpsc::Receiver<Question>,
    open: BTreeMap<String, Question>,
    count: usize,
}

/// How far a call has come.
pub(super) enum Step<T> {
    Done(T),
    /// The client has to answer first.
    Ask(BTreeMap<String, InputRequest>),
    /// The call panicked, or the client gave up.
    Ended,
}

impl<T: Send + 'static> Talk<T> {
    /// Begins a call.
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

    /// Goes on with the answers that a request of the client brings, until the call is over or asks something else.
    pub(super) async fn go_on(
        &mut self,
        client: Arc<ClientCall>,
        mut answers: BTreeMap<String, Value>,
    ) -> Step<T> {
        *lock(&self.host.current) = Some(client.clone());
        for (key, question) in std::mem::take(&mut self.open) {
            match answers.remove(&key) {
                // A call that no longer waits does not need it.
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

    /// Waits for the end of the call, or until it asks something.
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
        // Calls that code makes at the same time ask at the same time.
        let others = std::iter::from_fn(|| self.asked.try_recv().ok());
        for question in std::iter::once(asked).chain(others) {
            self.count += 1;
            self.open.insert(format!("question-{}", self.count), question);
        }
        None
    }
}

/// The client of such a call: present while one of its requests is.
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

    fn ask_here(&self, request: InputRequest) -> BoxFuture<'_, Result<Value, InputError>> {
        Box::pin(async move {
            let refused = |reason: &str| InputError::Refused { reason: reason.to_owned() };
            let (answer, answered) = oneshot::channel();
            let sent = self.questions.try_send(Question { request, answer });
            sent.map_err(|_| refused("the call has too many open questions"))?;
            match timeout(PATIENCE, answered).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(_)) => Err(refused("too many calls wait for answers; try again later")),
                Err(_) => Err(refused("no answer came within ten minutes")),
            }
        })
    }
}
