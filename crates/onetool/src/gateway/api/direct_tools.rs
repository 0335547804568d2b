//! The tools under `/tools`: looked up, validated and called like those of an agent.

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, JsonObject, ToolOutput, ToolSpec, abbreviate,
};
use onetool_server::catalog::{Catalog, Entry, Source};
use onetool_server::{CallError, Server};
use onetool_web::{ApiError, ArgumentError, InvalidArguments, ToolsApi};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::gateway::{Inner, PAGE};

/// The tools of a gateway.
#[derive(Clone)]
pub(super) struct GatewayTools(Arc<Inner>);

impl GatewayTools {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

/// A tool in the catalog snapshot that its request started with.
pub(super) struct SnapshotTool {
    catalog: Arc<Catalog>,
    entry: Arc<Entry>,
}

impl ToolsApi for GatewayTools {
    type Tool = SnapshotTool;

    async fn list(&self) -> Result<Vec<SnapshotTool>, ApiError> {
        self.0.server.settle().await;
        let catalog = self.0.server.catalog();
        let tool = |entry: &Arc<Entry>| SnapshotTool { catalog: catalog.clone(), entry: entry.clone() };
        Ok(catalog.tools().map(tool).collect())
    }

    async fn find(&self, name: &str) -> Result<SnapshotTool, ApiError> {
        self.0.server.settle().await;
        let catalog = self.0.server.catalog();
        let hint = match catalog.visible(name) {
            Ok(entry) if *entry.source() != Source::Surface => {
                let entry = entry.clone();
                return Ok(SnapshotTool { catalog, entry });
            }
            Ok(_) => String::new(),
            Err(unknown) => unknown.hint(),
        };
        Err(ApiError::NotFound(format!("Tool not found: {}{hint}", abbreviate(name))))
    }

    fn spec<'a>(&self, tool: &'a SnapshotTool) -> &'a ToolSpec {
        tool.entry.spec()
    }

    fn description<'a>(&self, tool: &'a SnapshotTool) -> &'a str {
        tool.catalog.description(&tool.entry)
    }

    async fn validate(&self, tool: SnapshotTool, args: JsonObject) -> Vec<ArgumentError> {
        tool.entry.check_arguments(args).await
    }

    async fn call(
        &self,
        tool: SnapshotTool,
        args: JsonObject,
        caller: Caller,
    ) -> Result<ToolOutput, InvalidArguments> {
        let called = as_page(&self.0.server, caller, async move |server, cx| {
            server.call_entry(&tool.catalog, &tool.entry, args, cx).await
        });
        match called.await {
            Ok(Err(CallError::Invalid { errors, .. })) => Err(InvalidArguments(errors)),
            called => Ok(output(called)),
        }
    }
}

/// The page as the client of a call. Closing the request cancels the call.
struct PageClient {
    closed: CancellationToken,
}

impl CallHost for PageClient {
    fn client(&self) -> ClientInfo {
        ClientInfo { name: Some(PAGE.to_owned()), ..ClientInfo::default() }
    }

    fn is_cancelled(&self) -> bool {
        self.closed.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.closed.cancelled())
    }
}

type Called = Result<Result<ToolOutput, CallError>, tokio::task::JoinError>;

/// Makes a call for the page. It runs in a separate task, so that it is recorded as canceled when the returned future is
/// dropped.
pub(super) async fn as_page<F, Fut>(server: &Server, caller: Caller, call: F) -> Called
where
    F: FnOnce(Server, CallContext) -> Fut,
    Fut: Future<Output = Result<ToolOutput, CallError>> + Send + 'static,
{
    let closed = CancellationToken::new();
    let cx = CallContext::new(caller, Arc::new(PageClient { closed: closed.clone() }));
    let _closed_on_drop = closed.drop_guard();
    let calling = call(server.clone(), cx);
    server.pending_responses().spawn(calling.in_current_span()).await
}

/// Returns the output of a call; a failure is an output with an error.
pub(super) fn output(called: Called) -> ToolOutput {
    match called {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => ToolOutput::error(error.to_string()),
        Err(error) => ToolOutput::error(format!("the call ended unexpectedly: {error}")),
    }
}
