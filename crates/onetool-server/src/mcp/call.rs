//! The MCP client of a call: receives progress and log messages, and responds to requests for input.

#![expect(deprecated, reason = "older revisions still have logging, sampling and roots")]

use onetool_core::{
    BoxFuture, CallHost, ClientInfo, InputError, InputRequest, JsonObject, LogLevel, Progress,
};
use rmcp::RoleServer;
use rmcp::model::{
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion, ServerRequest,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::convert;

/// A request from an MCP client.
pub(super) struct ClientCall {
    cx: RequestContext<RoleServer>,
    min_log_level: Option<LogLevel>,
    is_stateless: bool,
}

impl ClientCall {
    pub(super) fn new(cx: RequestContext<RoleServer>, session_level: Option<LogLevel>) -> Self {
        let is_stateless = is_stateless(cx.protocol_version().as_ref());
        // A session gets the level that it set, by default `info`; a stateless request the level that it asks for.
        let min_log_level = if is_stateless {
            cx.meta.log_level().map(convert::log_level)
        } else {
            Some(session_level.unwrap_or(LogLevel::Info))
        };
        Self { cx, min_log_level, is_stateless }
    }
}

/// Returns whether a protocol revision has neither sessions nor requests from the server.
pub(super) fn is_stateless(revision: Option<&ProtocolVersion>) -> bool {
    revision.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn client_info(cx: &RequestContext<RoleServer>) -> ClientInfo {
    let capabilities = cx.client_capabilities().and_then(|it| serde_json::to_value(it).ok());
    ClientInfo {
        name: cx.client_info().map(|it| it.name),
        capabilities: match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            _ => JsonObject::new(),
        },
        protocol_version: cx.protocol_version().map(|it| it.as_str().to_owned()),
    }
}

impl CallHost for ClientCall {
    fn client(&self) -> ClientInfo {
        client_info(&self.cx)
    }

    fn is_cancelled(&self) -> bool {
        self.cx.ct.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.cx.ct.cancelled())
    }

    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some(token) = self.cx.meta.get_progress_token() else { return };
            let mut params = ProgressNotificationParam::new(token, progress.done);
            params.total = progress.total;
            params.message = progress.message;
            // Ignored if the client has disconnected.
            let _ = self.cx.peer.notify_progress(params).await;
        })
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        let logger = logger.map(str::to_owned);
        Box::pin(async move {
            if self.min_log_level.is_none_or(|min| level < min) {
                return;
            }
            let mut params = LoggingMessageNotificationParam::new(convert::logging_level(level), data);
            params.logger = logger;
            let _ = self.cx.peer.notify_logging_message(params).await;
        })
    }

    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        Box::pin(async move {
            if self.is_stateless {
                return None;
            }
            let refused = |reason: String| InputError::Refused { reason };
            let message = json!({"method": request.kind.method(), "params": request.params});
            let response = match serde_json::from_value::<ServerRequest>(message) {
                Ok(request) => {
                    self.cx.peer.send_request(request).await.map_err(|error| refused(error.to_string()))
                }
                Err(error) => Err(refused(format!("invalid request: {error}"))),
            };
            Some(response.and_then(|it| serde_json::to_value(it).map_err(|error| refused(error.to_string()))))
        })
    }
}
