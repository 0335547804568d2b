//! The client that an upstream sees: it says who we are, and passes questions on to the call that caused them.

#![expect(deprecated, reason = "older revisions still have logging, sampling and roots")]

use std::sync::Arc;

use onetool_core::{InputKind, InputRequest, JsonObject, LogLevel};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, LoggingLevel, ProtocolVersion, RootsCapabilities, SamplingCapability,
    UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::calls::{Calls, Event};

/// Our side of one connection.
pub(crate) struct Client {
    pub(crate) name: Arc<str>,
    pub(crate) calls: Arc<Calls>,
}

impl Client {
    /// Puts a question to the client that made the call, through the call's own context.
    async fn ask<A: DeserializeOwned>(
        &self,
        kind: InputKind,
        params: impl Serialize,
        cx: RequestContext<RoleClient>,
    ) -> Result<A, ErrorData> {
        let refuse = |reason: &str| {
            tracing::debug!(server = %self.name, method = kind.method(), "a question is refused: {reason}");
            ErrorData::invalid_request(format!("{} is refused: {reason}", kind.method()), None)
        };
        let cause = match cx.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => self.calls.cause(Some(id)),
            // Over HTTP a server may ask on its general stream, over stdio there is only one.
            _ => self.calls.cause(None),
        };
        let call = cause.map_err(refuse)?;
        let params = serde_json::to_value(params).ok().and_then(|params| match params {
            Value::Object(params) => Some(params),
            _ => None,
        });
        let request = InputRequest { kind, params: params.unwrap_or_default() };
        let (answer, answered) = oneshot::channel();
        let is_over = || refuse("the call that caused it is over");
        call.events.send(Event::Ask { request, answer }).await.map_err(|_| is_over())?;
        let answer = tokio::select! {
            answer = answered => answer.map_err(|_| is_over())?.map_err(|reason| refuse(&reason))?,
            () = self.calls.ended.cancelled() => return Err(is_over()),
            () = cx.ct.cancelled() => return Err(refuse("the server no longer waits for it")),
        };
        serde_json::from_value(answer)
            .map_err(|_| refuse("the client's answer is not what the protocol defines"))
    }
}

impl ClientHandler for Client {
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.ask(InputKind::Sampling, params, cx).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ask(InputKind::Elicitation, params, cx).await
    }

    async fn list_roots(&self, cx: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.ask(InputKind::Roots, JsonObject::new(), cx).await
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        // Whether the client behind a call can do these is known only when it is asked.
        capabilities.sampling = Some(SamplingCapability::default());
        let elicitation = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::new()));
        capabilities.roots = Some(RootsCapabilities::default());
        let us = Implementation::new("onetool", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(capabilities, us);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }
}

pub(crate) fn log_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
