//! A call from its caller's side: the breaker, the connection in force, questions in rounds, one repetition.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use onetool_core::{
    CallContext, InputError, InputKind, InputRequest, InputRequired, JsonObject, PromptError, ResourceError,
    ToolError,
};
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, InputResponses};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::answer::take;
use crate::breaker::Permit;
use crate::exchange::{Failure, exchange};
use crate::link::{Access, Link, Phase};

/// How often an upstream may ask back before a call is given up.
const MAX_ROUNDS: u64 = 10;

/// The error of a server whose person has to open an address first.
const URL_REQUIRED: ErrorCode = ErrorCode(-32042);

/// What a round of a call carries beside its own parameters.
#[derive(Default)]
pub(crate) struct Round {
    number: u64,
    /// The keys of all questions so far, under which the client knows them.
    used: BTreeSet<String>,
    pub(crate) answers: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// What a stateless client keeps of a round for us.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Kept {
    round: u64,
    used: BTreeSet<String>,
    /// The questions of this round: our key, and the upstream's.
    asked: BTreeMap<String, String>,
    request_state: Option<String>,
}

/// Makes the request of a round.
pub(crate) type MakeRequest<'a> = dyn Fn(&Round) -> ClientRequest + Send + Sync + 'a;

/// A call that brought no result.
pub(crate) enum CallError {
    /// The upstream answered with an error of the protocol.
    Refused(ErrorData),
    /// The client has to answer first, or cannot.
    Ask(ToolError),
    /// It did not work, in words for the caller.
    Failed(String),
}

/// Something that ended a conversation before its result.
enum Interruption {
    Failure(Failure),
    Ask(ToolError),
}

impl Access {
    /// Calls the upstream; `is_safe` says that the same call twice does no harm.
    #[tracing::instrument(name = "proxy.call", skip_all, fields(server = %self.name))]
    pub(crate) async fn call(
        &self,
        make: &MakeRequest<'_>,
        cx: &CallContext,
        is_safe: bool,
    ) -> Result<Value, CallError> {
        let permit =
            self.breaker.admit().map_err(|reason| self.failed(&format!("is not called: {reason}")))?;
        let limit = Instant::now() + self.timeout;
        let until = cx.deadline().map_or(limit, |deadline| limit.min(deadline.into()));
        let link = self.link(until).await?;
        let mut done = converse(&link, make, cx, until).await;
        let (was_sent, text) = match &done {
            Err(Interruption::Failure(Failure::Broken(text))) => (true, text),
            Err(Interruption::Failure(Failure::NotSent(text))) => (false, text),
            _ => return self.judged(done, permit, until < limit),
        };
        let renewed = self.renewed(&link, until).await;
        if was_sent && !is_safe {
            return Err(self.failed(&format!(
                "{text}; the call was sent and is not repeated by itself, because it may change something: \
                 call again if it should"
            )));
        }
        done = converse(&*renewed?, make, cx, until).await;
        self.judged(done, permit, until < limit)
    }

    /// Tells the breaker how a call went, and says in words what went wrong.
    fn judged(
        &self,
        done: Result<Value, Interruption>,
        permit: Permit<'_>,
        is_callers_deadline: bool,
    ) -> Result<Value, CallError> {
        let failure = match done {
            Ok(value) => {
                permit.succeeded();
                return Ok(value);
            }
            Err(Interruption::Ask(error)) => {
                permit.succeeded();
                return Err(CallError::Ask(error));
            }
            Err(Interruption::Failure(failure)) => failure,
        };
        let text = match failure {
            Failure::Refused(error) => {
                permit.succeeded();
                return Err(CallError::Refused(error));
            }
            // The caller's own impatience says nothing about the upstream.
            Failure::Cancelled => return Err(self.failed("was not waited for: the call was cancelled")),
            Failure::Timeout if is_callers_deadline => {
                return Err(self.failed("did not answer before the deadline of the call"));
            }
            Failure::Timeout => format!("did not answer within {} s", self.timeout.as_secs_f64()),
            Failure::Lost(reason) => format!("was lost during the call: {reason}"),
            Failure::NotSent(reason) => format!("could not be reached: {reason}"),
            Failure::Broken(text) => format!("{text}, twice in a row"),
            Failure::Denied(reason) => format!("refuses us: {reason}"),
            Failure::Transport(reason) | Failure::NotUnderstood(reason) => {
                format!("could not be spoken to: {reason}")
            }
        };
        permit.failed(&text);
        Err(self.failed(&text))
    }

    fn failed(&self, what: &str) -> CallError {
        CallError::Failed(self.scrubber.tidy(&format!("server '{}' {what}", self.name)))
    }

    /// Returns the connection in force, waiting for one that is on its way.
    async fn link(&self, until: Instant) -> Result<Arc<Link>, CallError> {
        let mut phase = self.phase.subscribe();
        let is_due = matches!(&*phase.borrow(), Phase::GivenUp { again, .. } if *again <= Instant::now());
        if is_due {
            // One of those who ask now gets the attempt, and all of them wait for how it ends.
            self.called.notify_one();
            let begun = phase.wait_for(|phase| !matches!(phase, Phase::GivenUp { .. }));
            let _ = tokio::time::timeout_at(until, begun).await;
        }
        let settled = phase.wait_for(|phase| !matches!(phase, Phase::Connecting));
        let phase =
            tokio::time::timeout_at(until, settled).await.map(|phase| phase.map(|phase| phase.clone()));
        match phase {
            Ok(Ok(Phase::Up(link))) => Ok(link),
            Ok(Ok(Phase::Down(reason))) => Err(self.failed(&format!("is not connected: {reason}"))),
            Ok(Ok(Phase::GivenUp { reason, again })) => {
                let wait = again.saturating_duration_since(Instant::now()).as_secs() + 1;
                Err(self.failed(&format!("is not connected: {reason}; a call in {wait} s tries again")))
            }
            Ok(Ok(Phase::Connecting)) | Err(_) => Err(self.failed("is still connecting; call again later")),
            Ok(Err(_)) => Err(self.failed("is shut down")),
        }
    }

    /// Has a stale connection replaced and returns the new one. Many may ask, one new connection is made.
    async fn renewed(&self, stale: &Link, until: Instant) -> Result<Arc<Link>, CallError> {
        let is_old = |phase: &Phase| matches!(phase, Phase::Up(link) if link.generation <= stale.generation);
        self.stale.send_if_modified(|newest| {
            let is_news = newest.is_none_or(|newest| newest < stale.generation);
            *newest = (*newest).max(Some(stale.generation));
            is_news
        });
        let mut phase = self.phase.subscribe();
        let replaced = phase.wait_for(|phase| !is_old(phase));
        if !matches!(tokio::time::timeout_at(until, replaced).await.map(|phase| phase.is_ok()), Ok(true)) {
            return Err(self.failed("did not open a new session in time; call again later"));
        }
        self.link(until).await
    }
}

/// Sends a request and answers what the upstream wants to know first, round by round.
async fn converse(
    link: &Link,
    make: &MakeRequest<'_>,
    cx: &CallContext,
    until: Instant,
) -> Result<Value, Interruption> {
    let mut round = Round::resumed(cx);
    while round.number < MAX_ROUNDS {
        let result = exchange(link, make(&round), cx, until).await.map_err(Interruption::Failure)?;
        if result.get("resultType").is_none_or(|kind| kind != "input_required") {
            return Ok(result);
        }
        round = round.next(&result, cx).await.map_err(Interruption::Ask)?;
    }
    let text = format!("it asked back {MAX_ROUNDS} times without coming to an end");
    Err(Interruption::Failure(Failure::Transport(text)))
}

impl Round {
    /// Takes up a call where a stateless client left it.
    fn resumed(cx: &CallContext) -> Self {
        let Some(state) = &cx.input().state else { return Self::default() };
        // The state was sealed by us; one that an older version made begins the call anew.
        let Ok(kept) = Kept::deserialize(state) else { return Self::default() };
        let answers = kept.asked.into_iter();
        let answers =
            answers.filter_map(|(ours, theirs)| Some((theirs, cx.input().answers.get(&ours)?.clone())));
        Self {
            number: kept.round,
            answers: Some(answers.collect()),
            used: kept.used,
            state: kept.request_state,
        }
    }

    /// Has the upstream's questions answered by the client.
    async fn next(mut self, asked: &Value, cx: &CallContext) -> Result<Self, ToolError> {
        let round = self.number + 1;
        let request_state = asked["requestState"].as_str().map(str::to_owned);
        let mut requests = BTreeMap::new();
        let mut keys = BTreeMap::new();
        for (theirs, request) in asked["inputRequests"].as_object().cloned().unwrap_or_default() {
            let ours = self.key(&theirs, round);
            requests.insert(ours.clone(), question(request)?);
            keys.insert(ours, theirs);
        }
        let mut answers = InputResponses::new();
        for (ours, theirs) in &keys {
            match cx.ask(ours, requests[ours].clone()).await {
                Ok(answer) => answers.extend([(theirs.clone(), answer)]),
                // The client can only answer with the next round, and then all questions at once.
                Err(ToolError::InputRequired(_)) => {
                    let kept = Kept { round, used: self.used, asked: keys, request_state };
                    let state = Some(json!(kept));
                    return Err(ToolError::InputRequired(Box::new(InputRequired { requests, state })));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self { number: round, answers: Some(answers), state: request_state, used: self.used })
    }

    /// Returns the key of a question: the upstream's own, unless an earlier question of the call has it, whose answer
    /// the client would send again.
    fn key(&mut self, theirs: &str, round: u64) -> String {
        let mut ours = theirs.to_owned();
        while !self.used.insert(ours.clone()) {
            ours = format!("{ours}~{round}");
        }
        ours
    }
}

fn question(mut request: Value) -> Result<InputRequest, ToolError> {
    let Some(kind) = InputKind::ALL.into_iter().find(|kind| request["method"] == kind.method()) else {
        return Err(ToolError::failed(format!(
            "the server asks for {}, which nobody knows",
            request["method"]
        )));
    };
    let params = match take(&mut request, "params") {
        Value::Object(params) => params,
        _ => JsonObject::new(),
    };
    Ok(InputRequest { kind, params })
}

/// Returns what the client behind a call lacks, if that is why an upstream refused it.
fn missing_capability(error: &ErrorData) -> Option<InputError> {
    if error.code != ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY {
        return None;
    }
    let required = &error.data.as_ref()?["requiredCapabilities"];
    let mut names = InputKind::ALL.into_iter().map(InputKind::capability);
    names.find(|name| required.get(name).is_some()).map(|capability| InputError::Unsupported { capability })
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(ErrorData { code: URL_REQUIRED, message, data: Some(data), .. }) => {
                Self::UrlRequired { message: message.into_owned(), data }
            }
            CallError::Refused(error) => match missing_capability(&error) {
                Some(missing) => missing.into(),
                None => Self::failed(format!("{} (error {})", error.message, error.code.0)),
            },
            CallError::Ask(error) => error,
            CallError::Failed(message) => Self::failed(message),
        }
    }
}

impl From<CallError> for PromptError {
    fn from(error: CallError) -> Self {
        Self::from_any(ToolError::from(error))
    }
}

impl CallError {
    /// Makes the error of a read; an upstream says in two ways that there is nothing.
    pub(crate) fn of_read(self, uri: &str) -> ResourceError {
        let is_missing = |error: &ErrorData| match error.code {
            ErrorCode::RESOURCE_NOT_FOUND => true,
            ErrorCode::INVALID_PARAMS => error.data.as_ref().is_some_and(|data| data.get("uri").is_some()),
            _ => false,
        };
        match self {
            Self::Refused(error) if is_missing(&error) => {
                ResourceError::NotFound { uri: uri.to_owned(), hint: String::new() }
            }
            error => ResourceError::from_any(ToolError::from(error)),
        }
    }
}
