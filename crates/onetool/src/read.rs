//! Reading resources, getting prompts and proposing values: the smaller siblings of a tool call.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use onetool_core::{
    BoxFuture, CallContext, JsonObject, PromptError, PromptMessage, ReadRequest, ResourceContents,
    ResourceError,
};

use crate::catalog::Catalog;
use crate::dispatch::panic_message;

/// A resource or prompt that could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The resource could not be read.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The prompt could not be made.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// No prompt has the name.
    #[error("prompt not found: '{name}'{hint}")]
    UnknownPrompt {
        /// The name.
        name: String,
        /// What exists instead; may be empty.
        hint: String,
    },
    /// The handler panicked.
    #[error("'{what}' crashed: {message}")]
    Panicked {
        /// The URI or name.
        what: String,
        /// What the panic said.
        message: String,
    },
    /// The handler did not end in time.
    #[error("'{what}' did not answer within {} s and was stopped", limit.as_secs_f64())]
    Deadline {
        /// The URI or name.
        what: String,
        /// How long it had.
        limit: Duration,
    },
    /// The caller gave up.
    #[error("'{what}' was cancelled")]
    Cancelled {
        /// The URI or name.
        what: String,
    },
}

pub(crate) async fn read_resource(
    catalog: &Catalog,
    uri: &str,
    cx: CallContext,
    timeout: Duration,
) -> Result<Vec<ResourceContents>, ReadError> {
    let exact = catalog.resource(uri).filter(|it| !it.spec().uri.has_holes());
    let found = exact.map(|it| (it, BTreeMap::new())).or_else(|| {
        catalog.resources().find_map(|it| {
            let template = &it.spec().uri;
            template.has_holes().then(|| template.matches(uri)).flatten().map(|values| (it, values))
        })
    });
    let Some((resource, values)) = found else {
        return Err(ResourceError::NotFound { uri: uri.to_owned(), hint: String::new() }.into());
    };
    let request = ReadRequest { uri: uri.to_owned(), values };
    let cx = cx.with_deadline(Instant::now() + timeout);
    let mut contents = guarded(uri, &cx, timeout, resource.read(request, &cx)).await??;
    for part in &mut contents {
        if part.uri.is_empty() {
            uri.clone_into(&mut part.uri);
        }
        if part.mime_type.is_none() {
            part.mime_type.clone_from(&resource.spec().mime_type);
        }
    }
    Ok(contents)
}

pub(crate) async fn get_prompt(
    catalog: &Catalog,
    name: &str,
    args: JsonObject,
    cx: CallContext,
    timeout: Duration,
) -> Result<Vec<PromptMessage>, ReadError> {
    let Some(prompt) = catalog.prompt(name) else {
        let names: Vec<&str> = catalog.prompts().map(|it| it.spec().name.as_str()).collect();
        let hint =
            if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) };
        return Err(ReadError::UnknownPrompt { name: name.to_owned(), hint });
    };
    let is_missing = |name: &str| args.get(name).is_none_or(serde_json::Value::is_null);
    let required = prompt.spec().arguments.iter().filter(|it| it.required);
    let names: Vec<String> = required.map(|it| it.name.clone()).filter(|it| is_missing(it)).collect();
    if !names.is_empty() {
        return Err(PromptError::Missing { names }.into());
    }
    let cx = cx.with_deadline(Instant::now() + timeout);
    Ok(guarded(name, &cx, timeout, prompt.get(args, &cx)).await??)
}

/// Runs a handler so that a panic, a deadline or a cancelled request ends this request alone.
async fn guarded<T>(
    what: &str,
    cx: &CallContext,
    timeout: Duration,
    handler: BoxFuture<'_, T>,
) -> Result<T, ReadError> {
    let handler = AssertUnwindSafe(handler).catch_unwind();
    let what = what.to_owned();
    tokio::select! {
        biased;
        result = handler => result.map_err(|panic| {
            let message = panic_message(&*panic);
            tracing::error!(what, "handler panicked");
            ReadError::Panicked { what, message }
        }),
        () = cx.cancelled() => Err(ReadError::Cancelled { what }),
        () = tokio::time::sleep(timeout) => {
            tracing::error!(what, "handler did not end in time");
            Err(ReadError::Deadline { what, limit: timeout })
        }
    }
}
