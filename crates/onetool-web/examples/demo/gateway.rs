//! The gateway of the demo: everything in memory, everything real.

use std::collections::BTreeSet;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::{FutureExt as _, StreamExt as _};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use onetool_core::{
    BoxFuture, CallContext, Caller, JsonObject, ProviderError, Tool, ToolError, ToolOutput, ToolsProvider,
};
use onetool_web::{
    ActiveSet, Alias, ApiError, CallRecord, CallSummary, EventStream, Expansion, GatewayApi, GatewayEvent,
    Health, HistoryQuery, Overview, PackInfo, PromptInfo, ResultInfo, ResultPage, ResultQuery, SearchAnswer,
    SearchQuery, ServerInfo, ServerLog, Shortcuts, SnippetInfo, SnippetParameter, StatsQuery, StatsReport,
    ToolDetail, ToolRow,
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::search::Index;
use crate::state::{self, State, now_ms};
use crate::{console, tools};

const MAX_INLINE: usize = 50_000;

pub(crate) struct Demo {
    tools: Vec<Arc<dyn Tool>>,
    index: Index,
    state: Mutex<State>,
    events: broadcast::Sender<GatewayEvent>,
}

type Answer<'a, T> = BoxFuture<'a, Result<T, ApiError>>;

fn answer<'a, T: Send + 'a>(result: Result<T, ApiError>) -> Answer<'a, T> {
    Box::pin(ready(result))
}

impl Demo {
    pub(crate) fn new(many: usize, token: Option<String>, fresh: bool) -> Self {
        let tools = tools::all(many);
        let names: Vec<String> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
        let servers = state::servers(|server| {
            names.iter().filter(|name| name.starts_with(&format!("{server}."))).count()
        });
        let counted = if fresh { Vec::new() } else { state::past(&names) };
        let active = BTreeSet::from(["brave.search".to_owned(), "web.fetch".to_owned()]);
        let state = State {
            token,
            active,
            servers,
            calls: Vec::new(),
            counted,
            results: Vec::new(),
            history: true,
            next: 0,
        };
        Self { index: Index::new(&tools), tools, state: Mutex::new(state), events: broadcast::channel(64).0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn tell(&self, event: GatewayEvent) {
        // Nobody may be listening.
        let _ = self.events.send(event);
    }

    pub(crate) fn listed(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = self.state().token.clone() else { return true };
        headers
            .get(AUTHORIZATION)
            .is_some_and(|value| value.as_bytes() == format!("Bearer {token}").as_bytes())
    }

    pub(crate) fn set_token(&self, token: String) {
        self.state().token = Some(token);
    }

    pub(crate) fn counts(&self) -> Value {
        json!({"cancelled": tools::CANCELLED.load(Ordering::SeqCst), "calls": self.state().calls.len()})
    }

    pub(crate) fn expire(&self, handle: &str) -> bool {
        let mut state = self.state();
        let found = state.results.iter_mut().find(|(info, _)| info.handle == handle);
        found.map(|(info, _)| info.expires_ms = 0).is_some()
    }

    pub(crate) fn set_server(&self, name: &str, to: &str) -> bool {
        let changed = {
            let mut state = self.state();
            let Some(server) = state.servers.iter_mut().find(|it| it.name == name) else { return false };
            server.since_ms = now_ms();
            if to == "down" {
                server.health = Health::Unhealthy;
                server.reason = Some("the process ended with status 1".into());
                server.last_error.clone_from(&server.reason);
                server.next_action = Some("Look at its error output, then reconnect.".into());
            } else {
                server.health = Health::Healthy;
                server.reason = None;
                server.next_action = None;
            }
            server.clone()
        };
        self.tell(GatewayEvent::ServerHealth { server: changed });
        true
    }

    fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        // In code, odd characters of a name are written as underscores.
        let in_code = |tool: &Arc<dyn Tool>| tool.spec().name.as_str().replace(['-', '/'], "_") == name;
        let exact = self
            .tools
            .iter()
            .find(|tool| tool.spec().name.as_str() == name || tool.spec().name.flat() == name);
        exact.or_else(|| self.tools.iter().find(|tool| in_code(tool)))
    }

    /// Calls a tool, stores what is too large, and notes it.
    pub(crate) async fn call(
        &self,
        surface: &str,
        name: &str,
        args: JsonObject,
    ) -> Result<ToolOutput, ToolError> {
        let Some(tool) = self.find(name) else {
            return Err(ToolError::failed(format!("Tool not found: {name}")));
        };
        let name = tool.spec().name.to_string();
        let begun = now_ms();
        let pack = tool.spec().name.pack().unwrap_or_default();
        let server = self.state().servers.iter().find(|it| it.name == pack).cloned();
        let output = match server {
            Some(server) if server.health == Health::Unhealthy || !server.enabled => {
                ToolOutput::error(format!("{pack} is not connected"))
            }
            _ => {
                let cx = CallContext::detached();
                let calling = AssertUnwindSafe(tool.call(args.clone(), &cx)).catch_unwind();
                match calling.await {
                    Ok(Ok(output)) => output,
                    Ok(Err(error)) => ToolOutput::error(error.to_string()),
                    Err(_) => ToolOutput::error(format!("The tool '{name}' crashed.")),
                }
            }
        };
        let text = output.content.first().and_then(|block| block.as_text()).unwrap_or_default();
        let (output, summary) = {
            let mut state = self.state();
            let output = if text.len() > MAX_INLINE && name == "big.stored" {
                state.store(&name, text.to_owned())
            } else {
                output
            };
            let summary = state.record(surface, &name, &args, &output, begun);
            (output, summary)
        };
        self.tell(GatewayEvent::CallFinished { call: summary });
        Ok(output)
    }

    fn row(&self, tool: &Arc<dyn Tool>) -> ToolRow {
        let spec = tool.spec();
        let pack = spec.name.pack().map(str::to_owned);
        let source = match pack.as_deref() {
            Some(server @ ("github" | "docs")) => format!("proxy:{server}"),
            Some("petstore") => "openapi:petstore".to_owned(),
            _ => "local".to_owned(),
        };
        ToolRow {
            name: spec.name.to_string(),
            description: spec.description.clone(),
            active: self.state().active.contains(spec.name.as_str()),
            pack,
            source,
            annotations: spec.annotations.filter(|it| !it.is_empty()),
        }
    }

    fn server(&self, name: &str, change: impl FnOnce(&mut ServerInfo)) -> Result<ServerInfo, ApiError> {
        let changed = {
            let mut state = self.state();
            let server = state.servers.iter_mut().find(|it| it.name == name);
            let server = server.ok_or_else(|| ApiError::NotFound(format!("Server not found: {name}")))?;
            change(server);
            server.clone()
        };
        self.tell(GatewayEvent::ServerHealth { server: changed.clone() });
        Ok(changed)
    }

    fn expanded(command: &str) -> Result<String, ApiError> {
        let Some(rest) = command.trim().strip_prefix('$') else { return Ok(command.to_owned()) };
        let (name, values) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name != "research" {
            return Err(ApiError::NotFound(format!("Snippet not found: ${name}. There is: $research")));
        }
        let topic = values.trim().strip_prefix("topic=").unwrap_or("Python").trim_matches('"');
        Ok(format!("brave.search(query={}, count=3)", json!(topic)))
    }
}

impl ToolsProvider for Demo {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(ready(Ok(self.tools.clone())))
    }
}

impl GatewayApi for Demo {
    fn overview(&self, _: Caller) -> Answer<'_, Overview> {
        let state = self.state();
        answer(Ok(Overview {
            name: "demo".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool_count: self.tools.len(),
            active_count: state.active.len(),
            history: state.history,
            stats: true,
            run: true,
        }))
    }

    fn tool_rows(&self, _: Caller) -> Answer<'_, Vec<ToolRow>> {
        answer(Ok(self.tools.iter().map(|tool| self.row(tool)).collect()))
    }

    fn tool_detail(&self, _: Caller, name: String) -> Answer<'_, ToolDetail> {
        let Some(tool) = self.find(&name) else {
            return answer(Err(ApiError::NotFound(format!("Tool not found: {name}"))));
        };
        let spec = tool.spec();
        let is_odd = |c: char| matches!(c, '\u{200b}' | '\u{202e}');
        let mut warnings = Vec::new();
        if spec.description.contains(is_odd) {
            warnings.push("The description holds invisible characters.".to_owned());
        }
        if spec.description.contains("<IMPORTANT>") {
            warnings.push("The description gives orders to the model.".to_owned());
        }
        answer(Ok(ToolDetail {
            row: self.row(tool),
            flat_name: spec.name.flat(),
            signature: spec.signature(),
            input_schema: JsonObject::clone(&spec.input_schema),
            output_schema: None,
            examples: Vec::new(),
            keywords: Vec::new(),
            warnings,
        }))
    }

    fn search(&self, _: Caller, query: SearchQuery) -> Answer<'_, SearchAnswer> {
        answer(Ok(self.index.search(&query.q, query.limit)))
    }

    fn packs(&self, _: Caller) -> Answer<'_, Vec<PackInfo>> {
        let names: BTreeSet<&str> = self.tools.iter().filter_map(|tool| tool.spec().name.pack()).collect();
        let packs = names.into_iter().map(|name| PackInfo {
            name: name.to_owned(),
            source: "local".into(),
            tool_count: self.tools.iter().filter(|tool| tool.spec().name.pack() == Some(name)).count(),
            instructions: None,
        });
        answer(Ok(packs.collect()))
    }

    fn set_active(&self, _: Caller, names: Vec<String>, active: bool) -> Answer<'_, ActiveSet> {
        if let Some(unknown) = names.iter().find(|name| self.find(name).is_none()) {
            return answer(Err(ApiError::NotFound(format!("Tool not found: {unknown}"))));
        }
        let names: Vec<String> = {
            let mut state = self.state();
            for name in names {
                if active {
                    state.active.insert(name)
                } else {
                    state.active.remove(&name)
                };
            }
            state.active.iter().cloned().collect()
        };
        self.tell(GatewayEvent::ActiveChanged);
        answer(Ok(ActiveSet { count: names.len(), names }))
    }

    fn servers(&self, _: Caller) -> Answer<'_, Vec<ServerInfo>> {
        answer(Ok(self.state().servers.clone()))
    }

    fn reconnect(&self, _: Caller, server: String) -> Answer<'_, ServerInfo> {
        answer(self.server(&server, |it| {
            it.health = Health::Healthy;
            it.reason = None;
            it.next_action = None;
            it.since_ms = now_ms();
        }))
    }

    fn set_enabled(&self, _: Caller, server: String, enabled: bool) -> Answer<'_, ServerInfo> {
        answer(self.server(&server, |it| it.enabled = enabled))
    }

    fn server_log(&self, _: Caller, server: String) -> Answer<'_, ServerLog> {
        answer(self.server(&server, |_| {}).map(|it| ServerLog {
            lines: vec![
                format!("[{}] listening on {}", it.name, it.transport),
                format!("[{}] {} tools", it.name, it.tool_count),
            ],
        }))
    }

    fn stats(&self, _: Caller, query: StatsQuery) -> Answer<'_, StatsReport> {
        answer(Ok(self.state().stats(query.period, query.tool.as_deref())))
    }

    fn results(&self, _: Caller) -> Answer<'_, Vec<ResultInfo>> {
        answer(Ok(self.state().results.iter().map(|(info, _)| info.clone()).collect()))
    }

    fn result(&self, _: Caller, query: ResultQuery) -> Answer<'_, ResultPage> {
        answer(self.state().read(&query))
    }

    fn shortcuts(&self, _: Caller) -> Answer<'_, Shortcuts> {
        let parameter = SnippetParameter {
            name: "topic".into(),
            description: Some("Topic to research".into()),
            default: Some("Python".into()),
        };
        answer(Ok(Shortcuts {
            aliases: vec![Alias { name: "ws".into(), target: "brave.search".into() }],
            snippets: vec![SnippetInfo {
                name: "research".into(),
                description: "Search the web for a topic".into(),
                parameters: vec![parameter],
                body: "brave.search(query=\"{{ topic }}\", count=3)".into(),
            }],
            prompts: vec![PromptInfo {
                name: "batch_search".into(),
                description: "Search for several topics at once".into(),
                arguments: vec!["topics".into(), "count".into()],
            }],
        }))
    }

    fn expand(&self, _: Caller, command: String) -> Answer<'_, Expansion> {
        answer(Self::expanded(&command).map(|code| Expansion { code }))
    }

    fn run(&self, _: Caller, command: String) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let code = Self::expanded(&command).map_err(|error| ToolError::failed(error.to_string()))?;
            let calls = console::parse(&code).map_err(ToolError::failed)?;
            let mut last = ToolOutput::text("No value.");
            for call in calls {
                last = self.call("code", &call.name, call.args).await?;
                if last.is_error {
                    break;
                }
            }
            Ok(last)
        })
    }

    fn history(&self, _: Caller, query: HistoryQuery) -> Answer<'_, Vec<CallSummary>> {
        let state = self.state();
        let calls = state.calls.iter().rev().map(|call| &call.summary);
        let calls = calls.filter(|call| query.tool.as_ref().is_none_or(|tool| call.tool == *tool));
        answer(Ok(calls.take(query.limit.unwrap_or(100)).cloned().collect()))
    }

    fn call_record(&self, _: Caller, id: String) -> Answer<'_, CallRecord> {
        let found = self.state().calls.iter().find(|call| call.summary.id == id).cloned();
        answer(found.ok_or_else(|| ApiError::NotFound(format!("Call not found: {id}"))))
    }

    fn set_pinned(&self, _: Caller, id: String, pinned: bool) -> Answer<'_, CallSummary> {
        let mut state = self.state();
        let found = state.calls.iter_mut().find(|call| call.summary.id == id);
        let found = found.map(|call| {
            call.summary.pinned = pinned;
            call.summary.clone()
        });
        answer(found.ok_or_else(|| ApiError::NotFound(format!("Call not found: {id}"))))
    }

    fn clear_history(&self, _: Caller) -> Answer<'_, ()> {
        self.state().calls.retain(|call| call.summary.pinned);
        answer(Ok(()))
    }

    fn set_history(&self, _: Caller, enabled: bool) -> Answer<'_, ()> {
        self.state().history = enabled;
        answer(Ok(()))
    }

    fn events(&self, _: Caller) -> EventStream {
        let receiver = self.events.subscribe();
        let news = futures::stream::unfold(receiver, async |mut receiver| {
            match receiver.recv().await {
                Ok(event) => Some((event, receiver)),
                // What was missed is asked for again.
                Err(broadcast::error::RecvError::Lagged(_)) => Some((GatewayEvent::ToolsChanged, receiver)),
                Err(broadcast::error::RecvError::Closed) => None,
            }
        });
        news.boxed()
    }
}
