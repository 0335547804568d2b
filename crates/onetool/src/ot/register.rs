//! Registration of the functions as tools.

use std::sync::Arc;

use onetool_core::{CallContext, Tool, ToolAnnotations, ToolError, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{
    OtContext, OtError, Output, aliases, config, health, help, load, notify, packs, reload, result, snippets,
    stats, tools, version,
};
use onetool_server::Server;
use onetool_server::catalog::{RegisterError, Source};

/// Returns the context of a call; `None` when the gateway has stopped.
type Provider = Arc<dyn Fn() -> Option<OtContext> + Send + Sync>;

/// The arguments of a function without parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// Registers all functions of the pack. `context` runs on every call and must not keep the server alive.
pub(crate) fn register(
    server: &Server,
    context: impl Fn() -> Option<OtContext> + Send + Sync + 'static,
) -> Result<(), RegisterError> {
    let context: Provider = Arc::new(context);
    let tools: [Arc<dyn Tool>; 13] = [
        sync_tool(&context, "ot.tools", tools::DESCRIPTION, |cx, args| tools::tools(cx, &args)),
        sync_tool(&context, "ot.packs", packs::DESCRIPTION, |cx, args| packs::packs(cx, &args)),
        sync_tool(&context, "ot.aliases", aliases::DESCRIPTION, |cx, args| aliases::aliases(cx, &args)),
        sync_tool(&context, "ot.snippets", snippets::DESCRIPTION, |cx, args| snippets::snippets(cx, &args)),
        async_tool(
            &context,
            "ot.help",
            help::DESCRIPTION,
            ToolAnnotations::read_only(),
            |cx, args, _| async move { Ok(help::help(&cx, &args).await) },
        ),
        sync_tool(&context, "ot.config", config::DESCRIPTION, |cx, NoArguments {}| config::config(cx)),
        sync_tool(&context, "ot.health", health::DESCRIPTION, |cx, NoArguments {}| health::health(cx)),
        sync_tool(&context, "ot.version", version::DESCRIPTION, |cx, NoArguments {}| version::version(cx)),
        async_tool(&context, "ot.result", result::DESCRIPTION, ToolAnnotations::read_only(), result::result),
        async_tool(&context, "ot.load", load::DESCRIPTION, ToolAnnotations::read_only(), load::load),
        async_tool(&context, "ot.stats", stats::DESCRIPTION, writes(), |cx, args, call| async {
            Ok(stats::stats(cx, args, call).await)
        }),
        async_tool(&context, "ot.notify", notify::DESCRIPTION, writes(), |cx, args, _| {
            notify::notify(cx, args)
        }),
        async_tool(&context, "ot.reload", reload::DESCRIPTION, writes(), |cx, NoArguments {}, _| {
            reload::reload(cx)
        }),
    ];
    tools.into_iter().try_for_each(|tool| server.add_tool(tool, Source::Builtin))
}

/// Returns the annotations of a function that writes, but does not destroy anything.
fn writes() -> ToolAnnotations {
    ToolAnnotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        ..ToolAnnotations::default()
    }
}

fn current(context: &Provider) -> Result<OtContext, ToolError> {
    context().ok_or_else(|| ToolError::failed("the gateway is shutting down"))
}

/// Returns a tool for a synchronous, read-only function.
fn sync_tool<A>(
    context: &Provider,
    name: &str,
    description: &str,
    function: fn(&OtContext, A) -> Output,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    let context = context.clone();
    let handler = move |args: A, _: CallContext| {
        let output = current(&context).map(|context| function(&context, args));
        std::future::ready(output)
    };
    Arc::new(tool_fn(name, description, handler).annotations(ToolAnnotations::read_only()))
}

/// Returns a tool for an asynchronous function.
fn async_tool<A, F, Fut>(
    context: &Provider,
    name: &str,
    description: &str,
    annotations: ToolAnnotations,
    function: F,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(OtContext, A, CallContext) -> Fut + Send + Sync + Copy + 'static,
    Fut: Future<Output = Result<Output, OtError>> + Send + 'static,
{
    let context = context.clone();
    let handler = move |args: A, cx: CallContext| {
        let context = current(&context);
        async move { function(context?, args, cx).await.map_err(ToolError::from) }
    };
    Arc::new(tool_fn(name, description, handler).annotations(annotations))
}
