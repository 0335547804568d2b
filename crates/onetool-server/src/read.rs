//! Reads resources and renders prompts, with the same guards as a tool call.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use onetool_core::{
    BoxFuture, CallContext, FailureRedactor, InputError, JsonObject, PromptError, PromptOutput, ReadRequest,
    ResourceContents, ResourceError, abbreviate, similar_names,
};

use crate::catalog::Catalog;
use crate::dispatch::panic_message;
use onetool_core::media_type;

/// Maximum number of prompts listed in an error.
const PROMPTS_LISTED: usize = 20;

/// A resource that could not be read, or a prompt that could not be rendered.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// use onetool_server::{CallContext, JsonObject, ReadError, Server};
///
/// let server = Server::builder().build()?;
/// let result = server.get_prompt("review", JsonObject::new(), CallContext::detached()).await;
/// assert!(matches!(result, Err(ReadError::UnknownPrompt { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The resource could not be read.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The prompt could not be rendered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// No prompt has the name.
    #[error("prompt not found: '{name}'{hint}")]
    UnknownPrompt {
        /// The name.
        name: String,
        /// Similar or available names, starting with a separator; may be empty.
        hint: String,
    },
    /// The handler failed, or returned invalid contents.
    #[error("{what} failed: {reason}")]
    Failed {
        /// The resource or prompt: `resource 'docs://readme'`.
        what: String,
        /// The reason.
        reason: String,
    },
    /// The handler panicked.
    #[error("{what} crashed: {message}")]
    Panicked {
        /// The resource or prompt.
        what: String,
        /// The panic message.
        message: String,
    },
    /// The handler took too long.
    #[error("{what} timed out after {} s", limit.as_secs_f64())]
    Deadline {
        /// The resource or prompt.
        what: String,
        /// The time limit.
        limit: Duration,
    },
    /// The caller canceled the request.
    #[error("{what} was canceled")]
    Cancelled {
        /// The resource or prompt.
        what: String,
    },
}

impl ReadError {
    /// Returns the reason for the log, if the handler failed.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Failed { reason, .. } => Some(reason.clone()),
            Self::Panicked { message, .. } => Some(format!("panicked: {message}")),
            Self::Deadline { limit, .. } => Some(format!("timed out after {} s", limit.as_secs_f64())),
            _ => None,
        }
    }
}

pub(crate) async fn read_resource(
    catalog: &Catalog,
    uri: &str,
    cx: CallContext,
    timeout: Duration,
) -> Result<Vec<ResourceContents>, ReadError> {
    let exact = catalog.resource(uri).filter(|it| !it.spec().uri.has_variables());
    let found = exact.map(|it| (it, BTreeMap::new())).or_else(|| {
        catalog.resources().find_map(|it| {
            let template = &it.spec().uri;
            template.has_variables().then(|| template.matches(uri)).flatten().map(|values| (it, values))
        })
    });
    let Some((resource, values)) = found else {
        let uri = abbreviate(uri).into_owned();
        return Err(ResourceError::NotFound { uri, hint: String::new() }.into());
    };
    let spec = resource.spec();
    let failures =
        FailureRedactor::new(&values.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect());
    let request = ReadRequest { uri: uri.to_owned(), values };
    let cx = cx.with_deadline(Instant::now() + timeout);
    let what = format!("resource '{}'", abbreviate(uri));
    let read = guarded(&what, &cx, timeout, resource.read(request, &cx)).await.and_then(|read| {
        let failed = |reason: String| ReadError::Failed { what, reason };
        let mut contents = match read {
            Ok(contents) => contents,
            Err(
                error @ (ResourceError::NotFound { .. }
                | ResourceError::InputRequired(_)
                | ResourceError::Input(InputError::Unsupported { .. })),
            ) => return Err(error.into()),
            Err(error) => return Err(failed(error.to_string())),
        };
        for part in &mut contents {
            if part.uri.is_empty() {
                uri.clone_into(&mut part.uri);
            }
            if part.mime_type.is_none() {
                part.mime_type.clone_from(&spec.mime_type);
            }
        }
        // Contents from another server are passed on unchanged.
        let error = contents.iter().find_map(contents_error).filter(|_| !catalog.is_remote_resource(spec));
        error.map_or(Ok(contents), |reason| Err(failed(reason)))
    });
    // The template, not the URI: the values of its variables are arguments.
    read.inspect_err(|error| log_failure("resource", spec.uri.as_str(), error, &failures))
}

/// Returns why contents returned by a handler are invalid, if they are.
fn contents_error(contents: &ResourceContents) -> Option<String> {
    let reason = match (&contents.mime_type, &contents.text, &contents.blob) {
        (None, ..) => "no MIME type".to_owned(),
        (Some(it), ..) if !media_type::is_valid(it) => format!("the invalid MIME type {it:?}"),
        (_, None, None) => "neither text nor blob".to_owned(),
        (_, Some(_), Some(_)) => "both text and blob".to_owned(),
        (_, None, Some(blob)) if !is_base64(blob) => "a blob that is not valid base64".to_owned(),
        _ => return None,
    };
    Some(format!("the handler returned contents with {reason}"))
}

/// Returns whether text is base64 with padding (RFC 4648), without decoding it, because it may be large.
fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - data.len() <= 2
        && data.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

pub(crate) async fn get_prompt(
    catalog: &Catalog,
    name: &str,
    args: JsonObject,
    cx: CallContext,
    timeout: Duration,
) -> Result<PromptOutput, ReadError> {
    let Some(prompt) = catalog.prompt(name) else {
        return Err(ReadError::UnknownPrompt {
            name: abbreviate(name).into_owned(),
            hint: prompts_hint(catalog, name),
        });
    };
    let is_missing = |name: &str| args.get(name).is_none_or(serde_json::Value::is_null);
    let required = prompt.spec().arguments.iter().filter(|it| it.required);
    let names: Vec<String> = required.map(|it| it.name.clone()).filter(|it| is_missing(it)).collect();
    if !names.is_empty() {
        return Err(PromptError::Missing { names }.into());
    }
    let failures = FailureRedactor::new(&args);
    let cx = cx.with_deadline(Instant::now() + timeout);
    let what = format!("prompt '{name}'");
    let got = guarded(&what, &cx, timeout, prompt.get(args, &cx)).await.and_then(|got| {
        got.map_err(|error| match error {
            PromptError::Failed { message: reason } => ReadError::Failed { what, reason },
            PromptError::Input(error @ (InputError::Refused { .. } | InputError::State)) => {
                ReadError::Failed { what, reason: error.to_string() }
            }
            other => other.into(),
        })
    });
    got.inspect_err(|error| log_failure("prompt", name, error, &failures))
}

/// Suggests similar prompts, or lists the available ones.
fn prompts_hint(catalog: &Catalog, name: &str) -> String {
    let names: Vec<&str> = catalog.prompts().map(|it| it.spec().name.as_str()).collect();
    let similar = similar_names(name, names.iter().copied());
    let more = if names.len() > PROMPTS_LISTED { ", …" } else { "" };
    match (names.as_slice(), similar.as_slice()) {
        ([], _) => String::new(),
        (_, []) => {
            format!("; available prompts: {}{more}", names[..names.len().min(PROMPTS_LISTED)].join(", "))
        }
        (_, similar) => {
            let similar: Vec<String> = similar.iter().map(|it| format!("'{it}'")).collect();
            format!("; did you mean {}?", similar.join(" or "))
        }
    }
}

/// Runs a handler so that a panic, a timeout or a cancellation ends only this request.
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
            ReadError::Panicked { what, message: panic_message(&*panic) }
        }),
        () = cx.cancelled() => Err(ReadError::Cancelled { what }),
        () = tokio::time::sleep(timeout) => Err(ReadError::Deadline { what, limit: timeout }),
    }
}

/// Logs the failure of a handler.
fn log_failure(kind: &str, name: &str, error: &ReadError, failures: &FailureRedactor) {
    let Some(reason) = error.reason().map(|reason| failures.redact(&reason)) else { return };
    match error {
        ReadError::Panicked { .. } | ReadError::Deadline { .. } => {
            tracing::error!(kind, name, reason, "handler failed");
        }
        _ => tracing::warn!(kind, name, reason, "handler failed"),
    }
}
