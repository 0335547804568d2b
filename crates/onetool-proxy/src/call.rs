//! A call from the caller's side: the breaker, the current connection, rounds of input requests, one retry.

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

use crate::breaker::Permit;
use crate::exchange::{Failure, exchange};
use crate::json::take;
use crate::link::{Link, Phase, UpstreamHandle};
use crate::scrub;

/// Maximum number of rounds in which an upstream may request input during one call.
const MAX_ROUNDS: u64 = 10;

/// The error code of a server that first wants the user to open a URL.
const URL_REQUIRED: ErrorCode = ErrorCode(-32042);

/// What a round of a call sends in addition to the call's own parameters.
#[derive(Default)]
pub(crate) struct Round {
    number: u64,
    /// The keys of all input requests so far, as the client knows them.
    used_keys: BTreeSet<String>,
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// The part of a round that a stateless client stores for us between calls.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SavedRound {
    round: u64,
    /// The keys of all input requests so far.
    used: BTreeSet<String>,
    /// The input requests of this round: our key → the upstream's key.
    asked: BTreeMap<String, String>,
    request_state: Option<String>,
}

/// Builds the request of a round.
pub(crate) type BuildRequest<'a> = dyn Fn(&Round) -> ClientRequest + Send + Sync + 'a;

/// A call without a result.
pub(crate) enum CallError {
    /// The upstream returned a protocol error.
    Rejected(ErrorData),
    /// The client has to provide input first, or cannot.
    Input(ToolError),
    /// The call failed; the message is for the caller.
    Failed(String),
}

/// What ended the rounds of a call before there was a result.
enum RoundsError {
    Failure(Failure),
    Input(ToolError),
}

impl UpstreamHandle {
    /// Calls the upstream. `is_repeatable` says that making the same call twice is harmless.
    #[tracing::instrument(name = "proxy.call", skip_all, fields(server = %self.name))]
    pub(crate) async fn call(
        &self,
        build: &BuildRequest<'_>,
        cx: &CallContext,
        is_repeatable: bool,
    ) -> Result<Value, CallError> {
        let permit =
            self.breaker.admit().map_err(|reason| self.failed(&format!("is unavailable: {reason}")))?;
        let limit = Instant::now() + self.timeout;
        let until = cx.deadline().map_or(limit, |deadline| limit.min(deadline.into()));
        let link = self.link(until).await?;
        let mut result = run_rounds(&link, build, cx, until).await;
        let (was_sent, text) = match &result {
            Err(RoundsError::Failure(Failure::Broken(text))) => (true, text),
            Err(RoundsError::Failure(Failure::NotSent(text))) => (false, text),
            _ => return self.finish(result, permit, until < limit),
        };
        let new_link = self.replace_stale(&link, until).await;
        if was_sent && !is_repeatable {
            return Err(self.failed(&format!(
                "{text}; the call had been sent and may have had an effect, so it was not retried; call again to \
                 retry it"
            )));
        }
        result = run_rounds(&*new_link?, build, cx, until).await;
        self.finish(result, permit, until < limit)
    }

    /// Reports the outcome of a call to the breaker, and turns a failure into a message.
    fn finish(
        &self,
        result: Result<Value, RoundsError>,
        permit: Permit<'_>,
        is_callers_deadline: bool,
    ) -> Result<Value, CallError> {
        let failure = match result {
            Ok(value) => {
                permit.succeeded();
                return Ok(value);
            }
            Err(RoundsError::Input(error)) => {
                permit.succeeded();
                return Err(CallError::Input(error));
            }
            Err(RoundsError::Failure(failure)) => failure,
        };
        let text = match failure {
            Failure::Rejected(error) => {
                permit.succeeded();
                return Err(CallError::Rejected(error));
            }
            // A caller that stops waiting says nothing about the upstream, so these do not count for the breaker.
            Failure::Canceled => return Err(self.failed("did not finish: the call was canceled")),
            Failure::Timeout if is_callers_deadline => {
                return Err(self.failed("did not respond before the call's deadline"));
            }
            Failure::Timeout => format!("did not respond within {} s", self.timeout.as_secs_f64()),
            Failure::Lost(reason) => format!("disconnected during the call: {reason}"),
            Failure::NotSent(reason) => format!("could not be reached: {reason}"),
            Failure::Broken(text) => format!("{text}, twice in a row"),
            Failure::Denied(reason) => format!("denied access: {reason}"),
            Failure::Transport(reason) | Failure::NotMcp(reason) => format!("failed: {reason}"),
        };
        permit.failed(&text);
        Err(self.failed(&text))
    }

    fn failed(&self, what: &str) -> CallError {
        CallError::Failed(scrub::clean(&self.redactor, &format!("server '{}' {what}", self.name)))
    }

    /// Returns the current connection, waiting if it is being established.
    async fn link(&self, until: Instant) -> Result<Arc<Link>, CallError> {
        let mut phase = self.phase.subscribe();
        let may_retry =
            matches!(&*phase.borrow(), Phase::GivenUp { retry_at, .. } if *retry_at <= Instant::now());
        if may_retry {
            // Concurrent calls share one attempt, and all of them wait for its outcome.
            self.retry.notify_one();
            let started = phase.wait_for(|phase| !matches!(phase, Phase::GivenUp { .. }));
            let _ = tokio::time::timeout_at(until, started).await;
        }
        let settled = phase.wait_for(|phase| !matches!(phase, Phase::Connecting));
        let phase =
            tokio::time::timeout_at(until, settled).await.map(|phase| phase.map(|phase| phase.clone()));
        match phase {
            Ok(Ok(Phase::Up(link))) => Ok(link),
            Ok(Ok(Phase::Down(reason))) => Err(self.failed(&format!("is not connected: {reason}"))),
            Ok(Ok(Phase::GivenUp { reason, retry_at })) => {
                let wait = retry_at.saturating_duration_since(Instant::now()).as_secs() + 1;
                Err(self.failed(&format!("is not connected: {reason}; call again in {wait} s to retry")))
            }
            Ok(Ok(Phase::Connecting)) | Err(_) => Err(self.failed("is still connecting; call again later")),
            Ok(Err(_)) => Err(self.failed("was shut down")),
        }
    }

    /// Requests a replacement for a stale connection and returns it. Concurrent calls share one new connection.
    async fn replace_stale(&self, stale: &Link, until: Instant) -> Result<Arc<Link>, CallError> {
        let is_old = |phase: &Phase| matches!(phase, Phase::Up(link) if link.generation <= stale.generation);
        self.stale.send_if_modified(|newest| {
            let is_newer = newest.is_none_or(|newest| newest < stale.generation);
            *newest = (*newest).max(Some(stale.generation));
            is_newer
        });
        let mut phase = self.phase.subscribe();
        let replaced = phase.wait_for(|phase| !is_old(phase));
        if !matches!(tokio::time::timeout_at(until, replaced).await.map(|phase| phase.is_ok()), Ok(true)) {
            return Err(self.failed("did not open a new session in time; call again later"));
        }
        self.link(until).await
    }
}

/// Sends a request, and repeats it with the client's input for as long as the upstream requests some.
async fn run_rounds(
    link: &Link,
    build: &BuildRequest<'_>,
    cx: &CallContext,
    until: Instant,
) -> Result<Value, RoundsError> {
    let mut round = Round::resume(cx);
    while round.number < MAX_ROUNDS {
        let result = exchange(link, build(&round), cx, until).await.map_err(RoundsError::Failure)?;
        if result.get("resultType").is_none_or(|kind| kind != "input_required") {
            return Ok(result);
        }
        round = round.next(&result, cx).await.map_err(RoundsError::Input)?;
    }
    let text = format!("it requested input {MAX_ROUNDS} times without returning a result");
    Err(RoundsError::Failure(Failure::Transport(text)))
}

impl Round {
    /// Continues a call where a stateless client left off.
    fn resume(cx: &CallContext) -> Self {
        let Some(state) = &cx.input().state else { return Self::default() };
        // We sealed the state ourselves. If an older version did and it has another form, the call starts over.
        let Ok(saved) = SavedRound::deserialize(state) else { return Self::default() };
        let responses = saved.asked.into_iter();
        let responses =
            responses.filter_map(|(ours, theirs)| Some((theirs, cx.input().responses.get(&ours)?.clone())));
        Self {
            number: saved.round,
            responses: Some(responses.collect()),
            used_keys: saved.used,
            state: saved.request_state,
        }
    }

    /// Passes the upstream's input requests to the client and returns the next round.
    async fn next(mut self, result: &Value, cx: &CallContext) -> Result<Self, ToolError> {
        let round = self.number + 1;
        let request_state = result["requestState"].as_str().map(str::to_owned);
        let mut requests = BTreeMap::new();
        let mut keys = BTreeMap::new();
        for (theirs, request) in result["inputRequests"].as_object().cloned().unwrap_or_default() {
            let ours = self.unique_key(&theirs, round);
            requests.insert(ours.clone(), input_request(request)?);
            keys.insert(ours, theirs);
        }
        let mut responses = InputResponses::new();
        for (ours, theirs) in &keys {
            match cx.ask(ours, requests[ours].clone()).await {
                Ok(response) => responses.extend([(theirs.clone(), response)]),
                // The client can respond only with its next call, and then to all requests together.
                Err(ToolError::InputRequired(_)) => {
                    let saved = SavedRound { round, used: self.used_keys, asked: keys, request_state };
                    let state = Some(json!(saved));
                    return Err(ToolError::InputRequired(Box::new(InputRequired { requests, state })));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            number: round,
            responses: Some(responses),
            state: request_state,
            used_keys: self.used_keys,
        })
    }

    /// Returns our key for an input request: the upstream's own, unless an earlier request of the call has it. The
    /// client would send the earlier response again.
    fn unique_key(&mut self, theirs: &str, round: u64) -> String {
        let mut ours = theirs.to_owned();
        while !self.used_keys.insert(ours.clone()) {
            ours = format!("{ours}~{round}");
        }
        ours
    }
}

fn input_request(mut request: Value) -> Result<InputRequest, ToolError> {
    let Some(kind) = InputKind::ALL.into_iter().find(|kind| request["method"] == kind.method()) else {
        return Err(ToolError::failed(format!(
            "the server sent an unknown input request: {}",
            request["method"]
        )));
    };
    let params = match take(&mut request, "params") {
        Value::Object(params) => params,
        _ => JsonObject::new(),
    };
    Ok(InputRequest { kind, params })
}

/// Returns the capability that the client behind a call lacks, if that is why the upstream rejected the call.
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
            CallError::Rejected(ErrorData { code: URL_REQUIRED, message, data: Some(data), .. }) => {
                Self::UrlRequired { message: message.into_owned(), data }
            }
            CallError::Rejected(error) => match missing_capability(&error) {
                Some(missing) => missing.into(),
                None => Self::failed(format!("{} (error {})", error.message, error.code.0)),
            },
            CallError::Input(error) => error,
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
    /// Converts the error of a read. Upstreams have two ways to say that a resource does not exist.
    pub(crate) fn into_resource_error(self, uri: &str) -> ResourceError {
        let is_missing = |error: &ErrorData| match error.code {
            ErrorCode::RESOURCE_NOT_FOUND => true,
            ErrorCode::INVALID_PARAMS => error.data.as_ref().is_some_and(|data| data.get("uri").is_some()),
            _ => false,
        };
        match self {
            Self::Rejected(error) if is_missing(&error) => {
                ResourceError::NotFound { uri: uri.to_owned(), hint: String::new() }
            }
            error => ResourceError::from_any(ToolError::from(error)),
        }
    }
}
