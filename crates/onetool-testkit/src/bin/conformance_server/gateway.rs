//! The same fixtures behind a gateway: another process serves them, and the gateway here proxies them.
//!
//! A gateway adds a prefix to the names of an upstream, but the suite knows only the bare ones. So every tool, resource
//! and prompt of the upstream is also registered under its bare name, otherwise unchanged.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use onetool::{
    BoxFuture, CallContext, ContentBlock, Gateway, GatewayOptions, JsonObject, Prompt, PromptError,
    PromptOutput, PromptSpec, ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec, Tool,
    ToolError, ToolName, ToolOutput, ToolSpec, UriTemplate, config,
};
use serde_json::json;

const PACK: &str = "up";
const NAME_PREFIX: &str = "up_";
const URI_PREFIX: &str = "onetool://server/up/";

/// Returns a gateway in front of the server at `url`.
pub(crate) async fn connect(url: &str) -> anyhow::Result<Gateway> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("onetool.yaml");
    std::fs::write(&path, json!({"version": 1, "servers": {PACK: {"url": url}}}).to_string())?;
    let gateway = Gateway::new(config::load(&path, &|_| None)?, GatewayOptions::default())?;
    gateway.connected().await;
    if let Some(reason) = gateway.sources().first().and_then(|it| it.reason()) {
        bail!("the server at {url} is not connected: {reason}");
    }
    register_bare_names(&gateway)?;
    Ok(gateway)
}

fn register_bare_names(gateway: &Gateway) -> anyhow::Result<()> {
    let (server, catalog) = (gateway.server(), gateway.server().catalog());
    for entry in catalog.tools().filter(|it| it.name().pack() == Some(PACK)) {
        let name = ToolName::new(entry.name().tool());
        let spec = ToolSpec { name, ..entry.spec().clone() };
        server.register_tool(BareTool { spec, inner: entry.tool().clone() })?;
    }
    for inner in catalog.resources().filter(|it| it.spec().uri.as_str().starts_with(URI_PREFIX)) {
        let uri = inner.spec().uri.as_str().strip_prefix(URI_PREFIX).context("it has the prefix")?;
        let spec = ResourceSpec { uri: UriTemplate::new(uri), ..inner.spec().clone() };
        server.register_resource(BareResource { spec, inner: inner.clone() })?;
    }
    for inner in catalog.prompts().filter(|it| it.spec().name.starts_with(NAME_PREFIX)) {
        let name = inner.spec().name.strip_prefix(NAME_PREFIX).context("it has the prefix")?.to_owned();
        let spec = PromptSpec { name, ..inner.spec().clone() };
        server.register_prompt(BarePrompt { spec, inner: inner.clone() })?;
    }
    Ok(())
}

struct BareTool {
    spec: ToolSpec,
    inner: Arc<dyn Tool>,
}

impl Tool for BareTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let mut output = self.inner.call(args, cx).await?;
            output.content.iter_mut().for_each(strip_block);
            Ok(output)
        })
    }
}

struct BareResource {
    spec: ResourceSpec,
    inner: Arc<dyn Resource>,
}

impl Resource for BareResource {
    fn spec(&self) -> &ResourceSpec {
        &self.spec
    }

    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        Box::pin(async move {
            let request = ReadRequest { uri: format!("{URI_PREFIX}{}", request.uri), ..request };
            let mut contents = self.inner.read(request, cx).await?;
            for it in &mut contents {
                strip_uri(&mut it.uri);
            }
            Ok(contents)
        })
    }

    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        self.inner.complete(variable, typed)
    }
}

struct BarePrompt {
    spec: PromptSpec,
    inner: Arc<dyn Prompt>,
}

impl Prompt for BarePrompt {
    fn spec(&self) -> &PromptSpec {
        &self.spec
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        Box::pin(async move {
            let mut output = self.inner.get(args, cx).await?;
            for it in &mut output.messages {
                strip_block(&mut it.content);
            }
            Ok(output)
        })
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        self.inner.complete(argument, typed)
    }
}

fn strip_block(block: &mut ContentBlock) {
    match block {
        ContentBlock::Resource { resource, .. } => strip_uri(&mut resource.uri),
        ContentBlock::ResourceLink { uri, .. } => strip_uri(uri),
        _ => {}
    }
}

fn strip_uri(uri: &mut String) {
    if let Some(bare) = uri.strip_prefix(URI_PREFIX) {
        *uri = bare.to_owned();
    }
}
