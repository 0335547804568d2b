//! The MCP client that an upstream sees: it identifies us, and forwards input requests to the call they belong to.

#![expect(deprecated, reason = "older revisions still have logging, sampling and roots")]

use std::sync::Arc;

use onetool_core::{InputKind, InputRequest, JsonObject};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, ProtocolVersion, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::in_flight::{Event, InFlightCalls};

/// Our side of one connection.
pub(crate) struct Client {
    pub(crate) name: Arc<str>,
    pub(crate) calls: Arc<InFlightCalls>,
}

impl Client {
    /// Forwards an input request to the client behind the call, through the call's own context.
    async fn forward<T: DeserializeOwned>(
        &self,
        kind: InputKind,
        params: impl Serialize,
        cx: RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let reject = |reason: &str| {
            tracing::debug!(server = %self.name, method = kind.method(), "input request rejected: {reason}");
            ErrorData::invalid_request(format!("{} was rejected: {reason}", kind.method()), None)
        };
        let call = match cx.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => self.calls.find(Some(id)),
            // Over HTTP a server may use its general stream; over stdio there is only one stream.
            _ => self.calls.find(None),
        };
        let call = call.map_err(reject)?;
        let params = serde_json::to_value(params).ok().and_then(|params| match params {
            Value::Object(params) => Some(params),
            _ => None,
        });
        let request = InputRequest { kind, params: params.unwrap_or_default() };
        let (reply, replied) = oneshot::channel();
        let call_ended = || reject("the call it belongs to has ended");
        call.events.send(Event::Input { request, reply }).await.map_err(|_| call_ended())?;
        let response = tokio::select! {
            reply = replied => reply.map_err(|_| call_ended())?.map_err(|reason| reject(&reason))?,
            () = self.calls.closed.cancelled() => return Err(call_ended()),
            () = cx.ct.cancelled() => return Err(reject("the server canceled it")),
        };
        serde_json::from_value(response).map_err(|_| reject("the client's response is invalid"))
    }
}

impl ClientHandler for Client {
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.forward(InputKind::Sampling, params, cx).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.forward(InputKind::Elicitation, params, cx).await
    }

    async fn list_roots(&self, cx: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.forward(InputKind::Roots, JsonObject::new(), cx).await
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        // Declared unconditionally: what the client behind a call supports is known only during the call.
        capabilities.sampling = Some(SamplingCapability::default());
        let elicitation = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::new()));
        capabilities.roots = Some(RootsCapabilities::default());
        let implementation = Implementation::new("onetool", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(capabilities, implementation);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }
}
