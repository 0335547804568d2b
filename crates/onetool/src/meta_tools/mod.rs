//! The tools that find, describe and load other tools, one file per tool.

mod active;
mod call;
mod describe;
mod find;
mod load;

use std::sync::Arc;

use onetool_core::state::SessionKey;
use onetool_core::{CallContext, Tool, ToolAnnotations, ToolError, ToolOutput, tool_fn};
use onetool_server::catalog::{RegisterError, Source};
use onetool_server::{Server, WeakServer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use self::call::MetaCall;
use crate::search::Finder;

/// The server (weak, so that its tools do not keep it alive) and the search.
#[derive(Clone)]
struct Host {
    server: WeakServer,
    finder: Arc<Finder>,
}

/// Registers the meta tools.
pub(crate) fn register(server: &Server, finder: &Arc<Finder>) -> Result<(), RegisterError> {
    let host = Host { server: server.downgrade(), finder: finder.clone() };
    let reads = ToolAnnotations { open_world_hint: Some(false), ..ToolAnnotations::read_only() };
    let changes_list = ToolAnnotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
    };
    let tools: [Arc<dyn Tool>; 4] = [
        tool(&host, "tool_find", find::DESCRIPTION, reads, find::find),
        tool(&host, "tool_describe", describe::DESCRIPTION, reads, describe::describe),
        tool(&host, "tool_load", load::DESCRIPTION, changes_list, load::load),
        tool(&host, "tool_active", active::DESCRIPTION, reads, active::active),
    ];
    tools.into_iter().try_for_each(|tool| server.add_tool(tool, Source::Surface))
}

fn tool<A, F, Fut>(
    host: &Host,
    name: &str,
    description: &str,
    annotations: ToolAnnotations,
    function: F,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(MetaCall, A) -> Fut + Send + Sync + Copy + 'static,
    Fut: Future<Output = ToolOutput> + Send + 'static,
{
    let host = host.clone();
    let handler = move |args: A, cx: CallContext| {
        let call = host.server.upgrade().map(|server| MetaCall {
            catalog: server.catalog(),
            server,
            finder: host.finder.clone(),
            session: SessionKey::from_call(&cx),
            caller: cx.caller().clone(),
        });
        async move {
            let call = call.ok_or_else(|| ToolError::failed("the gateway is shutting down"))?;
            Ok::<_, ToolError>(function(call, args).await)
        }
    };
    Arc::new(tool_fn(name, description, handler).annotations(annotations))
}
