//! The official SDK's client, in process, over streams or HTTP, with plain JSON in and out.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
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

/// Which lifecycle a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize` and a session (2025-11-25).
    Sessions,
    /// `server/discover` and requests that carry everything (2026-07-28).
    Stateless,
}

impl Era {
    /// Both, for tests of what must not differ.
    pub const BOTH: [Self; 2] = [Self::Sessions, Self::Stateless];
}

/// What the server told the client without being asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The list of tools changed.
    Tools,
    /// The list of resources changed.
    Resources,
    /// The list of prompts changed.
    Prompts,
    /// A watched resource changed.
    ResourceUpdated(String),
    /// A call came so far.
    Progress(f64),
    /// A log message.
    Log(Value),
}

/// An error answer of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// Further data.
    pub data: Option<Value>,
}

struct Handler {
    notices: mpsc::UnboundedSender<Notice>,
}

impl Handler {
    fn note(&self, notice: Notice) {
        // The test may have stopped listening.
        let _ = self.notices.send(notice);
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
        answer(json!({"action": "accept", "content": {"name": "Ada"}}))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        answer(json!({"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "test"}))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.note(Notice::Progress(params.progress));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.note(Notice::Log(params.data));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.note(Notice::ResourceUpdated(params.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note(Notice::Tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note(Notice::Resources);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note(Notice::Prompts);
    }
}

fn answer<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A connected client.
pub struct Client {
    running: RunningService<RoleClient, Handler>,
    notices: mpsc::UnboundedReceiver<Notice>,
}

impl Client {
    /// Connects to a server in this process, with a session.
    pub async fn connect(server: &Server) -> Self {
        Self::connect_in(server, Era::Sessions).await
    }

    /// Connects to a server in this process.
    pub async fn connect_in(server: &Server, era: Era) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let server = server.clone();
        tokio::spawn(async move { server.serve_streams(read, write).await });
        let (read, write) = tokio::io::split(ours);
        Self::over(read, write, era).await
    }

    /// Connects over a pair of streams, such as those of a child process.
    pub async fn over<R, W>(read: R, write: W, era: Era) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, notices) = mpsc::unbounded_channel();
        let running = Handler { notices: sender }.serve_with_lifecycle((read, write), lifecycle(era)).await;
        Self { running: running.expect("the handshake succeeds"), notices }
    }

    /// Connects over streamable HTTP to a URL such as `http://127.0.0.1:1234/mcp`.
    pub async fn connect_http(url: &str, token: Option<&str>, era: Era) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.to_owned());
        config.auth_header = token.map(str::to_owned);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let (sender, notices) = mpsc::unbounded_channel();
        let running = Handler { notices: sender }.serve_with_lifecycle(transport, lifecycle(era)).await;
        Self { running: running.expect("the handshake succeeds"), notices }
    }

    /// Asks for a sign of life: `ping` where the revision has it, else the list of tools.
    pub async fn is_alive(&self, era: Era) -> bool {
        match era {
            Era::Sessions => {
                let ping = ClientRequest::PingRequest(PingRequest::default());
                self.running.send_request(ping).await.is_ok()
            }
            Era::Stateless => self.running.list_tools(None).await.is_ok(),
        }
    }

    /// Returns every tool, following the pages, and how many pages there were.
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

    /// Returns the names of every tool.
    pub async fn tool_names(&self) -> Vec<String> {
        names(&self.list_tools().await.0, "name")
    }

    /// Lists tools from a cursor.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn list_tools_from(&self, cursor: &str) -> Result<Value, RpcError> {
        let mut params = PaginatedRequestParams::default();
        params.cursor = Some(cursor.to_owned());
        reply(self.running.list_tools(Some(params)).await)
    }

    /// Returns every resource that is no template.
    pub async fn list_resources(&self) -> Vec<Value> {
        let listed = self.running.list_all_resources().await.expect("resources are listed");
        listed.iter().map(to_json).collect()
    }

    /// Returns every resource template.
    pub async fn list_templates(&self) -> Vec<Value> {
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
    /// When the server answers with a protocol error.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, RpcError> {
        reply(self.running.call_tool(call_params(name, arguments)).await)
    }

    /// Calls a tool and returns the text of its first block, prefixed with `error: ` if it is bad news.
    pub async fn call_text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await.expect("the call is answered");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == json!(true) { format!("error: {text}") } else { text.to_owned() }
    }

    /// Starts a call and cancels it at once when `when` is done.
    pub async fn call_and_cancel(&self, name: &str, arguments: Value, when: impl Future<Output = ()>) {
        let request = rmcp::model::CallToolRequest::new(call_params(name, arguments));
        let handle = self
            .running
            .send_cancellable_request(request.into(), PeerRequestOptions::no_options())
            .await
            .expect("the request is sent");
        when.await;
        handle.cancel(Some("no longer wanted".into())).await.expect("the request is cancelled");
    }

    /// Reads a resource and returns its contents.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn read(&self, uri: &str) -> Result<Value, RpcError> {
        let result = reply(self.running.read_resource(ReadResourceRequestParams::new(uri)).await)?;
        Ok(result["contents"][0].clone())
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, RpcError> {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = object(arguments);
        reply(self.running.get_prompt(params).await)
    }

    /// Asks for proposals for an argument of a prompt, or a hole of a resource template.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn complete(&self, of: &str, argument: &str, typed: &str) -> Result<Vec<String>, RpcError> {
        let reference =
            if of.contains("://") { Reference::for_resource(of) } else { Reference::for_prompt(of) };
        let argument = ArgumentInfo::new(argument, typed);
        let result = reply(self.running.complete(CompleteRequestParams::new(reference, argument)).await)?;
        Ok(result["completion"]["values"].as_array().into_iter().flatten().map(text).collect())
    }

    /// Sets the least severe log level that the client wants to hear.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn set_level(&self, level: LogFloor) -> Result<(), RpcError> {
        let level = match level {
            LogFloor::Debug => LoggingLevel::Debug,
            LogFloor::Error => LoggingLevel::Error,
        };
        self.running.set_level(SetLevelRequestParams::new(level)).await.map_err(rpc_error)
    }

    /// Watches a resource.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn subscribe(&self, uri: &str) -> Result<(), RpcError> {
        self.running.subscribe(SubscribeRequestParams::new(uri)).await.map_err(rpc_error)
    }

    /// Waits for the next thing that the server tells without being asked.
    pub async fn notice(&mut self) -> Notice {
        let next = tokio::time::timeout(std::time::Duration::from_secs(10), self.notices.recv()).await;
        next.ok().flatten().expect("the server tells something")
    }

    /// Waits until the server has told all of these, in any order.
    pub async fn expect_notices(&mut self, mut expected: Vec<Notice>) {
        while !expected.is_empty() {
            let notice = self.notice().await;
            expected.retain(|it| *it != notice);
        }
    }

    /// Ends the session.
    pub async fn close(self) {
        // A session that has ended already is closed as well.
        let _ = self.running.cancel().await;
    }
}

/// The two log levels that tests set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFloor {
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
    serde_json::to_value(value).expect("the SDK's types are JSON")
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
