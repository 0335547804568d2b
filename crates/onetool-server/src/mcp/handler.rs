//! Handles MCP requests with the catalog and dispatch.

#![expect(deprecated, reason = "older revisions still have logging and resource subscriptions")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use onetool_core::state::{SessionKey, StoreError};
use onetool_core::{
    CallContext, CallHost as _, Caller, InputError, InputRequired, InputState, PromptError, PromptOutput,
    ResourceError, SessionId, ToolError, ToolOutput, abbreviate, error_chain,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    CustomRequest, CustomResult, ErrorCode, Extensions, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptsCapability, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Reference, ResourcesCapability,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, ToolsCapability, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::call::{ClientCall, is_stateless};
use super::parked::{InteractiveCall, Step};
use super::seal::RequestState;
use super::session::{SESSION_ID, Session, SubscribeError, check_stream};
use super::{Wire, convert, notify};
use crate::dispatch::CallError;
use crate::read::ReadError;
use crate::{Capabilities, Server};
use onetool_core::json_size;

/// Size of the definitions after which a page of a list ends, in bytes.
///
/// The official TypeScript client disconnects on a message of more than 10 MB.
const PAGE_BYTES: usize = 4 << 20;

/// The target of a request, with the input that the client included.
struct Requested {
    /// The kind and name of the target, such as `tool weather.now`.
    target: String,
    state: Option<String>,
    responses: BTreeMap<String, Value>,
}

impl Requested {
    fn new(target: String, state: Option<String>, responses: Option<BTreeMap<String, Value>>) -> Self {
        Self { target, state, responses: responses.unwrap_or_default() }
    }
}

/// The outcome of a request.
enum Served<T> {
    Done(T),
    /// The client must provide input first.
    Ask(InputRequiredResult),
}

/// Handles the requests of a session, or a single request if the revision has no sessions.
pub(super) struct Handler {
    server: Server,
    session: Arc<Session>,
    ended: CancellationToken,
    /// Stops the task that sends notifications when the session is dropped.
    _notify_guard: DropGuard,
}

impl Handler {
    /// Creates a handler. This must be cheap, because it happens for every request of a stateless client.
    pub(super) fn new(server: Server) -> Self {
        let ended = server.shutdown_token().child_token();
        let session = Arc::new(Session::new(server.subscriptions_left().clone()));
        Self { server, session, _notify_guard: ended.clone().drop_guard(), ended }
    }

    fn wire(&self) -> &Wire {
        Wire::of(&self.server)
    }

    /// Returns the token that is canceled when the session ends.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Returns the session of a request. In revisions without sessions, all requests of a caller share one.
    fn session_key(&self, cx: &RequestContext<RoleServer>) -> SessionKey {
        if is_stateless(cx.protocol_version().as_ref()) {
            SessionKey::Caller(caller(cx))
        } else {
            SessionKey::Session(self.session_id(&cx.extensions).clone())
        }
    }

    /// Returns the session's id: over HTTP the one that every request carries, else a random one.
    fn session_id(&self, extensions: &Extensions) -> &SessionId {
        self.session.id(|| {
            let parts = extensions.get::<::http::request::Parts>()?;
            Some(SessionId::new(parts.headers.get(SESSION_ID)?.to_str().ok()?))
        })
    }

    /// Resumes a session that another server has saved, or saves a new one.
    async fn begin_session(&self, cx: &NotificationContext<RoleServer>) {
        let sessions = self.server.sessions();
        match sessions.session(self.session_id(&cx.extensions)).await {
            Ok(Some(state)) => self.session.resume(&state),
            Ok(None) => {
                let initialize = cx.peer.peer_info().and_then(|it| serde_json::to_value(&*it).ok());
                if let Some(Value::Object(initialize)) = initialize {
                    self.session.set_initialize(initialize);
                }
                self.save_session(&cx.extensions).await;
            }
            Err(error) => tracing::warn!("cannot resume a session: {}", error_chain(&error)),
        }
    }

    /// Saves the session's state. A session that cannot be saved continues here.
    async fn save_session(&self, extensions: &Extensions) {
        // A session without an id has nothing to save yet.
        self.session_id(extensions);
        if let Some(saving) = self.session.save(&**self.server.sessions())
            && let Err(error) = saving.await
        {
            tracing::warn!("cannot save the state of a session: {}", error_chain(&error));
        }
    }

    /// Handles a request that may need input from the client.
    ///
    /// A client with a session gets the requests for input while it waits. A stateless client gets them as the result, and
    /// continues with another request: the handler runs again with the input or, if it cannot, has waited for it.
    async fn serve<T, F>(
        &self,
        requested: Requested,
        cx: RequestContext<RoleServer>,
        serve: impl FnOnce(Server, CallContext) -> F + Send,
    ) -> Result<Served<T>, ErrorData>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let caller = caller(&cx);
        let has_session = !is_stateless(cx.protocol_version().as_ref());
        let session = has_session.then(|| self.session_id(&cx.extensions).clone());
        let client = Arc::new(ClientCall::new(cx, self.session.log_level()));
        let server = self.server.clone();
        if let Some(session) = session {
            let cx = CallContext::new(caller, client).with_session(session);
            return Ok(Served::Done(serve(server, cx).await));
        }
        let mut state = match &requested.state {
            Some(sealed) => {
                let ring = self.wire().seal.ring().await.map_err(no_keys)?;
                let opened = ring.open(&caller, &requested.target, sealed);
                opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?
            }
            None => RequestState::default(),
        };
        let mut call = match state.parked.take() {
            Some(name) => self.wire().parked.take(&name).ok_or_else(|| {
                let text = "the call that requested this input has expired; start it again";
                ErrorData::invalid_params(text, None)
            })?,
            None => {
                state.responses.extend(requested.responses.clone());
                let input = InputState { responses: state.responses.clone(), state: state.state.take() };
                let caller = caller.clone();
                InteractiveCall::start(client.client(), move |host| {
                    serve(server, CallContext::new(caller, host).with_input(input))
                })
            }
        };
        match call.resume(client.clone(), requested.responses).await {
            Step::Done(output) => Ok(Served::Done(output)),
            Step::Ended => Err(ErrorData::internal_error("the call was canceled", None)),
            Step::Ask(requests) => {
                let Ok(name) = self.wire().parked.park(&caller, call) else {
                    let text = "too many calls are waiting for input from their clients; retry later";
                    return Err(ErrorData::internal_error(text, None));
                };
                let state = RequestState { parked: Some(name), ..RequestState::default() };
                let ring = self.wire().seal.ring().await.map_err(no_keys)?;
                let state = ring.seal(&caller, &requested.target, &state);
                let requests = convert::input_requests(requests);
                Ok(Served::Ask(InputRequiredResult::new(Some(requests), Some(state))))
            }
        }
    }

    /// Creates the result that requests input from a stateless client, if the client supports these requests.
    async fn input_required(
        &self,
        cx: &CallContext,
        target: &str,
        required: InputRequired,
    ) -> Result<InputRequiredResult, ErrorData> {
        let declared = cx.client().capabilities;
        let mut needed = required.requests.values().map(|it| it.kind.capability());
        if let Some(capability) = needed.find(|it| !declared.contains_key(*it)) {
            return Err(missing_capability(capability));
        }
        let responses = cx.input().responses.clone();
        let state = RequestState { responses, state: required.state, parked: None };
        let state = if state.responses.is_empty() && state.state.is_none() {
            None
        } else {
            let ring = self.wire().seal.ring().await.map_err(no_keys)?;
            Some(ring.seal(cx.caller(), target, &state))
        };
        let requests = convert::input_requests(required.requests);
        Ok(InputRequiredResult::new((!requests.is_empty()).then_some(requests), state))
    }

    /// Returns one page of a list, converted for clients. A cursor is the key of the last item of the previous page.
    fn page<'a, T, U: Serialize>(
        &self,
        request: Option<&PaginatedRequestParams>,
        items: impl Iterator<Item = (&'a str, T)>,
        shown: impl Fn(T) -> U,
    ) -> Result<(Vec<U>, Option<String>), ErrorData> {
        let mut items = items.peekable();
        if let Some(cursor) = request.and_then(|it| it.cursor.as_deref())
            && !items.by_ref().any(|(key, _)| key == cursor)
        {
            return Err(ErrorData::invalid_params("unknown cursor; list again from the start", None));
        }
        let (mut page, mut last, mut bytes) = (Vec::new(), None, 0);
        while page.len() < self.server.options().page_size && bytes < PAGE_BYTES {
            let Some((key, item)) = items.next() else { break };
            let item = shown(item);
            bytes += json_size(&item);
            page.push(item);
            last = Some(key);
        }
        let next = items.peek().and(last).map(str::to_owned);
        Ok((page, next))
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        if let Some(id) = self.session.known_id() {
            // Not awaited: the session has ended.
            drop(self.server.sessions().end_session(id));
        }
    }
}

/// Returns the caller, which the access layer adds to HTTP requests. Local transports need no authorization.
fn caller(cx: &RequestContext<RoleServer>) -> Caller {
    caller_in(&cx.extensions)
}

fn caller_in(extensions: &Extensions) -> Caller {
    let parts = extensions.get::<::http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned().unwrap_or_default()
}

fn declare(capabilities: Capabilities) -> ServerCapabilities {
    let mut declared = ServerCapabilities::default();
    let mut tools = ToolsCapability::default();
    tools.list_changed = Some(true);
    declared.tools = Some(tools);
    if capabilities.resources {
        let mut resources = ResourcesCapability::default();
        (resources.list_changed, resources.subscribe) = (Some(true), Some(true));
        declared.resources = Some(resources);
    }
    if capabilities.prompts {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        declared.prompts = Some(prompts);
    }
    declared.logging = capabilities.logging.then(Default::default);
    declared.completions = capabilities.completions.then(Default::default);
    declared
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let options = self.server.options();
        let mut info = ServerConfig::new(declare(self.server.capabilities()))
            .with_server_info(Implementation::new(&options.name, &options.version));
        info.instructions.clone_from(&options.instructions);
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let known = ProtocolVersion::KNOWN_VERSIONS;
        match &self.server.options().newest_protocol {
            Some(newest) => known.iter().filter(|it| it.as_str() <= newest.as_str()).cloned().collect(),
            None => known.into(),
        }
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        self.server.note_greeting();
        let (server, session) = (self.server.clone(), self.session.clone());
        let declared = server.capabilities();
        let caller = caller_in(&cx.extensions);
        let key = SessionKey::Session(self.session_id(&cx.extensions).clone());
        let peer = cx.peer.clone();
        tokio::spawn(notify::notify_session(
            server,
            peer,
            session,
            key,
            caller,
            declared,
            self.ended.clone(),
        ));
        self.begin_session(&cx).await;
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.server.options().logging {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        self.session.set_log_level(convert::log_level(request.level));
        self.save_session(&cx.extensions).await;
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The SDK compares every URI with every other, so too many are dropped here; `listen` reports the error.
        let is_fine = check_stream(requested.resource_subscriptions.as_deref().unwrap_or_default()).is_ok();
        Some(if is_fine { requested.clone() } else { SubscriptionFilter::default() })
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let watched = cx.requested().resource_subscriptions.as_deref().unwrap_or_default();
        let _permit = self.session.watch_stream(watched).map_err(not_subscribed)?;
        let session = self.session_key(cx.request_context());
        let caller = caller(cx.request_context());
        notify::notify_subscription(&self.server, &session, caller, &cx, &self.ended).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.watch(request.uri).map_err(not_subscribed)?;
        self.save_session(&cx.extensions).await;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.unwatch(&request.uri);
        self.save_session(&cx.extensions).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // The first request of a stateless client is usually this one.
        self.server.note_greeting();
        if self.server.catalog().lacks_pinned() {
            self.server.settle().await;
        }
        let catalog = self.server.catalog();
        let loaded = self.server.active().on_list(&self.session_key(&cx), &caller(&cx)).await;
        let loaded = loaded.iter().filter_map(|name| catalog.get_visible(name.as_str()));
        let tools = catalog.listed().chain(loaded.filter(|entry| !catalog.is_listed(entry)));
        let tools = tools.map(|entry| (entry.flat_name(), entry));
        let (page, next) =
            self.page(request.as_ref(), tools, |entry| convert::ListedTool::new(&catalog, entry))?;
        Ok(convert::list(page, next))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let catalog = self.server.catalog();
        catalog.get_visible(name).map(|entry| convert::tool(&catalog, entry))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let target = format!("tool {}", request.name);
        let is_stateless = is_stateless(cx.protocol_version().as_ref());
        let (notifications, list_changes) = (self.session.notifications(), self.session.list_changes());
        let (name, args) = (request.name, request.arguments.unwrap_or_default());
        let requested = Requested::new(target.clone(), request.request_state, request.input_responses);
        let called = self.serve(requested, cx, move |server: Server, cx: CallContext| async move {
            (server.call(&name, args, cx.clone()).await, cx)
        });
        let (result, cx) = match called.await? {
            Served::Done(done) => done,
            Served::Ask(required) => return Ok(required.into()),
        };
        // The client must get the notification that its list changed before the result that says so.
        if let Some(notifications) = notifications
            && self.session.list_changes() != list_changes
        {
            self.session.wait_for_notification(notifications).await;
        }
        let error = match result {
            Ok(output) => return Ok(convert::output(output, is_stateless).into()),
            Err(error) => error,
        };
        match error {
            CallError::Unknown(unknown) => {
                Err(ErrorData::invalid_params(unknown.to_string(), Some(json!({"name": unknown.name}))))
            }
            CallError::ShuttingDown => Err(ErrorData::internal_error(error.to_string(), None)),
            CallError::Failed { error: ToolError::InputRequired(required), .. } if is_stateless => {
                Ok(self.input_required(&cx, &target, *required).await?.into())
            }
            CallError::Failed { error: ToolError::Input(InputError::Unsupported { capability }), .. }
                if is_stateless =>
            {
                Err(missing_capability(capability))
            }
            CallError::Failed { error: ToolError::UrlRequired { message, data }, .. }
                if supports_urls(&cx) =>
            {
                Err(ErrorData::new(ErrorCode(-32042), message, Some(data)))
            }
            // The model can read every other error and fix its call.
            _ => Ok(convert::output(ToolOutput::error(error.to_string()), is_stateless).into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.server.settle().await;
        let catalog = self.server.catalog();
        let fixed = catalog.resources().filter(|it| !it.spec().uri.has_variables());
        let fixed = fixed.map(|it| (it.spec().uri.as_str(), it));
        let (page, next_cursor) = self.page(request.as_ref(), fixed, |it| convert::resource(&**it))?;
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.server.settle().await;
        let catalog = self.server.catalog();
        let templates = catalog.resources().filter(|it| it.spec().uri.has_variables());
        let templates = templates.map(|it| (it.spec().uri.as_str(), it));
        let (page, next_cursor) = self.page(request.as_ref(), templates, |it| convert::template(&**it))?;
        let mut result = ListResourceTemplatesResult::with_all_items(page);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let target = format!("resource {}", request.uri);
        let is_stateless = is_stateless(cx.protocol_version().as_ref());
        let uri = request.uri.clone();
        let requested = Requested::new(target.clone(), request.request_state, request.input_responses);
        let read = self.serve(requested, cx, move |server: Server, cx: CallContext| async move {
            (server.read_resource(&uri, cx.clone()).await, cx)
        });
        let (result, cx) = match read.await? {
            Served::Done(done) => done,
            Served::Ask(required) => return Ok(required.into()),
        };
        match result {
            Ok(contents) => {
                Ok(ReadResourceResult::new(contents.into_iter().map(convert::contents).collect()).into())
            }
            Err(ReadError::Resource(ResourceError::InputRequired(required))) if is_stateless => {
                Ok(self.input_required(&cx, &target, *required).await?.into())
            }
            Err(ReadError::Resource(ResourceError::Input(InputError::Unsupported { capability })))
                if is_stateless =>
            {
                Err(missing_capability(capability))
            }
            Err(error @ ReadError::Resource(ResourceError::NotFound { .. })) => {
                Err(ErrorData::resource_not_found(
                    error.to_string(),
                    Some(json!({"uri": abbreviate(&request.uri)})),
                ))
            }
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.server.settle().await;
        let catalog = self.server.catalog();
        let prompts = catalog.prompts().map(|it| (it.spec().name.as_str(), it));
        let (page, next_cursor) = self.page(request.as_ref(), prompts, |it| convert::prompt(&**it))?;
        let mut result = ListPromptsResult::with_all_items(page);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let target = format!("prompt {}", request.name);
        let is_stateless = is_stateless(cx.protocol_version().as_ref());
        let (name, args) = (request.name, request.arguments.unwrap_or_default());
        let requested = Requested::new(target.clone(), request.request_state, request.input_responses);
        let got = self.serve(requested, cx, move |server: Server, cx: CallContext| async move {
            (server.get_prompt(&name, args, cx.clone()).await, cx)
        });
        let (result, cx) = match got.await? {
            Served::Done(done) => done,
            Served::Ask(required) => return Ok(required.into()),
        };
        match result {
            Ok(PromptOutput { description, messages }) => {
                let mut result = GetPromptResult::new(messages.into_iter().map(convert::message).collect());
                result.description = description;
                Ok(result.into())
            }
            Err(ReadError::Prompt(PromptError::InputRequired(required))) if is_stateless => {
                Ok(self.input_required(&cx, &target, *required).await?.into())
            }
            Err(ReadError::Prompt(PromptError::Input(InputError::Unsupported { capability })))
                if is_stateless =>
            {
                Err(missing_capability(capability))
            }
            Err(error @ (ReadError::UnknownPrompt { .. } | ReadError::Prompt(_))) => {
                Err(ErrorData::invalid_params(error.to_string(), None))
            }
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(explain(&request, is_stateless(cx.protocol_version().as_ref())))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let catalog = self.server.catalog();
        let (argument, typed) = (request.argument.name.as_str(), request.argument.value.as_str());
        let unknown = |what: String| ErrorData::invalid_params(format!("nothing to complete: {what}"), None);
        let mut values = match &request.r#ref {
            Reference::Prompt(prompt) => match catalog.prompt(&prompt.name) {
                Some(prompt) => prompt.complete(argument, typed).await,
                None => return Err(unknown(format!("unknown prompt '{}'", abbreviate(&prompt.name)))),
            },
            Reference::Resource(template) => match catalog.resource(&template.uri) {
                Some(resource) => resource.complete(argument, typed).await,
                None => {
                    return Err(unknown(format!(
                        "unknown resource template '{}'",
                        abbreviate(&template.uri)
                    )));
                }
            },
            _ => return Err(unknown("unknown type of reference".into())),
        };
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let has_more = total > values.len();
        let total = u32::try_from(total).ok();
        let info = CompletionInfo::with_pagination(values, total, has_more)
            .map_err(|reason| ErrorData::internal_error(reason, None))?;
        Ok(CompleteResult::new(info))
    }
}

/// Returns why the SDK could not parse a request: an unknown method, or invalid parameters.
fn explain(request: &CustomRequest, is_stateless: bool) -> ErrorData {
    fn parse_error<T: serde::de::DeserializeOwned>(params: &Value) -> Option<String> {
        serde_json::from_value::<T>(params.clone()).err().map(|error| error.to_string())
    }
    let method = request.method.as_str();
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let reason = match method {
        "tools/call" => parse_error::<CallToolRequestParams>(&params),
        "resources/read" => parse_error::<ReadResourceRequestParams>(&params),
        "prompts/get" => parse_error::<GetPromptRequestParams>(&params),
        "completion/complete" => parse_error::<CompleteRequestParams>(&params),
        // Stateless revisions do not have this method, so its parameters do not matter.
        "logging/setLevel" if !is_stateless => parse_error::<SetLevelRequestParams>(&params),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            parse_error::<PaginatedRequestParams>(&params)
        }
        _ => {
            let message = format!("unknown method '{}'", abbreviate(method));
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        }
    };
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", abbreviate(&reason)));
    ErrorData::invalid_params(format!("invalid parameters for '{method}'{reason}"), None)
}

fn no_keys(error: StoreError) -> ErrorData {
    tracing::warn!("cannot read the keys that seal request state: {}", error_chain(&error));
    ErrorData::internal_error("the state of the request cannot be sealed or opened", None)
}

fn not_subscribed(error: SubscribeError) -> ErrorData {
    ErrorData::invalid_params(format!("cannot subscribe: {error}"), None)
}

/// Returns whether the client can ask the user to open a URL.
fn supports_urls(cx: &CallContext) -> bool {
    let capabilities = cx.client().capabilities;
    capabilities.get("elicitation").is_some_and(|elicitation| elicitation.get("url").is_some())
}

fn missing_capability(capability: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        format!("the client does not support {capability}, which this request requires"),
        Some(json!({"requiredCapabilities": {capability: {}}})),
    )
}
