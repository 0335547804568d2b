//! The functions as tools.

use std::sync::Arc;

use onetool_core::{CallContext, Tool, ToolAnnotations, ToolError, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{
    Answer, OtContext, OtError, aliases, config, health, help, load, notify, packs, reload, result, snippets,
    stats, tools, version,
};
use onetool_server::Server;
use onetool_server::catalog::{RegisterError, Source};

/// Makes the context of a call; `None` when the gateway is gone.
type Provider = Arc<dyn Fn() -> Option<OtContext> + Send + Sync>;

/// The arguments of a function that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// Registers every function of the pack. `context` is asked on every call, so it should not keep the server alive.
pub(crate) fn register(
    server: &Server,
    context: impl Fn() -> Option<OtContext> + Send + Sync + 'static,
) -> Result<(), RegisterError> {
    let context: Provider = Arc::new(context);
    let tools: [Arc<dyn Tool>; 13] = [
        telling(&context, "ot.tools", tools::DESCRIPTION, |cx, args| tools::tools(cx, &args)),
        telling(&context, "ot.packs", packs::DESCRIPTION, |cx, args| packs::packs(cx, &args)),
        telling(&context, "ot.aliases", aliases::DESCRIPTION, |cx, args| aliases::aliases(cx, &args)),
        telling(&context, "ot.snippets", snippets::DESCRIPTION, |cx, args| snippets::snippets(cx, &args)),
        doing(
            &context,
            "ot.help",
            help::DESCRIPTION,
            ToolAnnotations::read_only(),
            |cx, args, _| async move { Ok(help::help(&cx, &args).await) },
        ),
        telling(&context, "ot.config", config::DESCRIPTION, |cx, NoArguments {}| config::config(cx)),
        telling(&context, "ot.health", health::DESCRIPTION, |cx, NoArguments {}| health::health(cx)),
        telling(&context, "ot.version", version::DESCRIPTION, |cx, NoArguments {}| version::version(cx)),
        doing(&context, "ot.result", result::DESCRIPTION, ToolAnnotations::read_only(), result::result),
        doing(&context, "ot.load", load::DESCRIPTION, ToolAnnotations::read_only(), load::load),
        doing(&context, "ot.stats", stats::DESCRIPTION, writes(), |cx, args, call| async {
            Ok(stats::stats(cx, args, call).await)
        }),
        doing(&context, "ot.notify", notify::DESCRIPTION, writes(), |cx, args, _| notify::notify(cx, args)),
        doing(&context, "ot.reload", reload::DESCRIPTION, writes(), |cx, NoArguments {}, _| {
            reload::reload(cx)
        }),
    ];
    tools.into_iter().try_for_each(|tool| server.add_tool(tool, Source::Builtin))
}

/// The hints of a function that changes something, but destroys nothing.
fn writes() -> ToolAnnotations {
    ToolAnnotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        ..ToolAnnotations::default()
    }
}

fn now(context: &Provider) -> Result<OtContext, ToolError> {
    context().ok_or_else(|| ToolError::failed("the gateway is shutting down"))
}

/// Makes the tool of a function that only tells what it knows.
fn telling<A>(
    context: &Provider,
    name: &str,
    description: &str,
    function: fn(&OtContext, A) -> Answer,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    let context = context.clone();
    let handler = move |args: A, _: CallContext| {
        let answer = now(&context).map(|context| function(&context, args));
        std::future::ready(answer)
    };
    Arc::new(tool_fn(name, description, handler).annotations(ToolAnnotations::read_only()))
}

/// Makes the tool of a function that has the gateway do something.
fn doing<A, F, Fut>(
    context: &Provider,
    name: &str,
    description: &str,
    annotations: ToolAnnotations,
    function: F,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(OtContext, A, CallContext) -> Fut + Send + Sync + Copy + 'static,
    Fut: Future<Output = Result<Answer, OtError>> + Send + 'static,
{
    let context = context.clone();
    let handler = move |args: A, cx: CallContext| {
        let context = now(&context);
        async move { function(context?, args, cx).await.map_err(ToolError::from) }
    };
    Arc::new(tool_fn(name, description, handler).annotations(annotations))
}
