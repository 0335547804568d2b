//! The official SDK's client, in process, over streams or over HTTP. It takes and returns plain JSON.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot continue has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]
#![expect(deprecated, reason = "older revisions still have logging and sampling")]

use std::collections::HashSet;

use onetool::{JsonObject, Server};
use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    CompleteRequestParams, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, GetPromptRequestParams, Implementation, LoggingLevel, LoggingMessageNotificationParam,
    PaginatedRequestParams, PingRequest, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, Reference, ResourceUpdatedNotificationParam, SetLevelRequestParams,
    SubscribeRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions, RequestContext,
    RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

/// The protocol lifecycle that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize` and a session (2025-11-25).
    Sessions,
    /// `server/discover` and self-contained requests (2026-07-28).
    Stateless,
}

impl Era {
    /// Both eras, for tests of behavior that must not differ.
    pub const BOTH: [Self; 2] = [Self::Sessions, Self::Stateless];
}

/// A notification from the server.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// The list of tools changed.
    ToolsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// A subscribed resource changed.
    ResourceUpdated(String),
    /// The progress of a call.
    Progress(f64),
    /// A log message.
    Log(Value),
}

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// Additional data.
    pub data: Option<Value>,
}

struct Handler {
    notifications: mpsc::UnboundedSender<Notification>,
}

impl Handler {
    fn forward(&self, notification: Notification) {
        // The test may have dropped the receiver.
        let _ = self.notifications.send(notification);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().enable_sampling().build();
        ClientConfig::new(capabilities, Implementation::new("testkit", "0"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        parse_result(json!({"action": "accept", "content": {"name": "Ada"}}))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        parse_result(json!({"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "test"}))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.forward(Notification::Progress(params.progress));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.forward(Notification::Log(params.data));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.forward(Notification::ResourceUpdated(params.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.forward(Notification::ToolsChanged);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.forward(Notification::ResourcesChanged);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.forward(Notification::PromptsChanged);
    }
}

fn parse_result<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A connected client.
pub struct Client {
    running: RunningService<RoleClient, Handler>,
    notifications: mpsc::UnboundedReceiver<Notification>,
}

impl Client {
    /// Connects to a server in this process, with [`Era::Sessions`].
    pub async fn connect(server: &Server) -> Self {
        Self::connect_with(server, Era::Sessions).await
    }

    /// Connects to a server in this process, with the given era.
    pub async fn connect_with(server: &Server, era: Era) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let server = server.clone();
        tokio::spawn(async move { server.serve_streams(read, write).await });
        let (read, write) = tokio::io::split(ours);
        Self::from_streams(read, write, era).await
    }

    /// Connects over a pair of streams, such as those of a child process.
    pub async fn from_streams<R, W>(read: R, write: W, era: Era) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, notifications) = mpsc::unbounded_channel();
        let running =
            Handler { notifications: sender }.serve_with_lifecycle((read, write), lifecycle(era)).await;
        Self { running: running.expect("the handshake succeeds"), notifications }
    }

    /// Connects over streamable HTTP to a URL such as `http://127.0.0.1:1234/mcp`.
    pub async fn connect_http(url: &str, token: Option<&str>, era: Era) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().expect("the HTTP client can be built");
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.to_owned());
        config.auth_header = token.map(str::to_owned);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let (sender, notifications) = mpsc::unbounded_channel();
        let running = Handler { notifications: sender }.serve_with_lifecycle(transport, lifecycle(era)).await;
        Self { running: running.expect("the handshake succeeds"), notifications }
    }

    /// Returns whether the server responds: to `ping` if the revision has it, or else to a list of tools.
    pub async fn is_alive(&self, era: Era) -> bool {
        match era {
            Era::Sessions => {
                let ping = ClientRequest::PingRequest(PingRequest::default());
                self.running.send_request(ping).await.is_ok()
            }
            Era::Stateless => self.running.list_tools(None).await.is_ok(),
        }
    }

    /// Returns every tool from all pages, and the number of pages.
    pub async fn list_tools(&self) -> (Vec<Value>, usize) {
        let (mut all, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor;
            let page = self.running.list_tools(Some(params)).await.expect("tools are listed");
            all.extend(page.tools.iter().map(to_json));
            pages += 1;
            cursor = page.next_cursor;
            if cursor.is_none() {
                return (all, pages);
            }
        }
    }

    /// Returns the name of every tool.
    pub async fn tool_names(&self) -> Vec<String> {
        names(&self.list_tools().await.0, "name")
    }

    /// Lists tools from a cursor.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn list_tools_from(&self, cursor: &str) -> Result<Value, RpcError> {
        let mut params = PaginatedRequestParams::default();
        params.cursor = Some(cursor.to_owned());
        reply(self.running.list_tools(Some(params)).await)
    }

    /// Returns every resource, without templates.
    pub async fn list_resources(&self) -> Vec<Value> {
        let listed = self.running.list_all_resources().await.expect("resources are listed");
        listed.iter().map(to_json).collect()
    }

    /// Returns every resource template.
    pub async fn list_resource_templates(&self) -> Vec<Value> {
        let listed = self.running.list_all_resource_templates().await.expect("templates are listed");
        listed.iter().map(to_json).collect()
    }

    /// Returns every prompt.
    pub async fn list_prompts(&self) -> Vec<Value> {
        let listed = self.running.list_all_prompts().await.expect("prompts are listed");
        listed.iter().map(to_json).collect()
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When the server responds with a protocol error.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, RpcError> {
        reply(self.running.call_tool(call_params(name, arguments)).await)
    }

    /// Calls a tool and returns the text of its first block, with the prefix `error: ` if `isError` is set.
    pub async fn call_text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await.expect("the call has a result");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == json!(true) { format!("error: {text}") } else { text.to_owned() }
    }

    /// Starts a call and cancels it as soon as `when` completes.
    pub async fn call_and_cancel(&self, name: &str, arguments: Value, when: impl Future<Output = ()>) {
        let request = rmcp::model::CallToolRequest::new(call_params(name, arguments));
        let handle = self
            .running
            .send_cancellable_request(request.into(), PeerRequestOptions::no_options())
            .await
            .expect("the request is sent");
        when.await;
        handle.cancel(Some("no longer wanted".into())).await.expect("the request is canceled");
    }

    /// Reads a resource and returns its contents.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn read(&self, uri: &str) -> Result<Value, RpcError> {
        let result = reply(self.running.read_resource(ReadResourceRequestParams::new(uri)).await)?;
        Ok(result["contents"][0].clone())
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, RpcError> {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = object(arguments);
        reply(self.running.get_prompt(params).await)
    }

    /// Requests completions for an argument of a prompt, or a variable of a resource template.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn complete(&self, target: &str, argument: &str, typed: &str) -> Result<Vec<String>, RpcError> {
        let reference = if target.contains("://") {
            Reference::for_resource(target)
        } else {
            Reference::for_prompt(target)
        };
        let argument = ArgumentInfo::new(argument, typed);
        let result = reply(self.running.complete(CompleteRequestParams::new(reference, argument)).await)?;
        Ok(result["completion"]["values"].as_array().into_iter().flatten().map(text).collect())
    }

    /// Sets the minimum level of log messages that the server sends.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn set_level(&self, level: MinLogLevel) -> Result<(), RpcError> {
        let level = match level {
            MinLogLevel::Debug => LoggingLevel::Debug,
            MinLogLevel::Error => LoggingLevel::Error,
        };
        self.running.set_level(SetLevelRequestParams::new(level)).await.map_err(rpc_error)
    }

    /// Subscribes to a resource.
    ///
    /// # Errors
    /// When the server responds with an error.
    pub async fn subscribe(&self, uri: &str) -> Result<(), RpcError> {
        self.running.subscribe(SubscribeRequestParams::new(uri)).await.map_err(rpc_error)
    }

    /// Waits for the next notification.
    pub async fn next_notification(&mut self) -> Notification {
        let next = tokio::time::timeout(std::time::Duration::from_secs(10), self.notifications.recv()).await;
        next.ok().flatten().expect("the server sends a notification")
    }

    /// Waits until the server has sent all of these notifications, in any order.
    pub async fn expect_notifications(&mut self, mut expected: Vec<Notification>) {
        while !expected.is_empty() {
            let notification = self.next_notification().await;
            expected.retain(|it| *it != notification);
        }
    }

    /// Ends the session.
    pub async fn close(self) {
        // This fails if the session has already ended, which is fine.
        let _ = self.running.cancel().await;
    }
}

/// The two log levels that tests set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MinLogLevel {
    /// Everything.
    Debug,
    /// Errors and worse.
    Error,
}

fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Sessions => ClientLifecycleMode::Initialize,
        Era::Stateless => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    }
}

fn call_params(name: &str, arguments: Value) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(name.to_owned());
    params.arguments = object(arguments);
    params
}

fn object(value: Value) -> Option<JsonObject> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn to_json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("the SDK's types serialize to JSON")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn names(items: &[Value], key: &str) -> Vec<String> {
    let names: Vec<String> = items.iter().map(|item| text(&item[key])).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "names are unique: {names:?}");
    names
}

fn reply(result: Result<impl serde::Serialize, ServiceError>) -> Result<Value, RpcError> {
    result.map(|it| to_json(&it)).map_err(rpc_error)
}

fn rpc_error(error: ServiceError) -> RpcError {
    match error {
        ServiceError::McpError(error) => {
            RpcError { code: error.code.0, message: error.message.into_owned(), data: error.data }
        }
        other => RpcError { code: 0, message: other.to_string(), data: None },
    }
}
