//! Prompts: messages rendered from arguments.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::schema_for;
use crate::{BoxError, BoxFuture, CallContext, ContentBlock, JsonObject, PromptError};

/// A message template that users can pick in their client.
///
/// Most prompts are closures, see [`prompt_fn`].
///
/// ```
/// use onetool_core::{BoxFuture, CallContext, JsonObject, Prompt, PromptError, PromptMessage, PromptOutput, PromptSpec};
///
/// struct Hello(PromptSpec);
///
/// impl Prompt for Hello {
///     fn spec(&self) -> &PromptSpec {
///         &self.0
///     }
///
///     fn get<'a>(&'a self, _: JsonObject, _: &'a CallContext) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
///         let messages = vec![PromptMessage::user("Say hello.")];
///         Box::pin(async { Ok(PromptOutput { description: None, messages }) })
///     }
/// }
///
/// let prompt = Hello(PromptSpec::new("hello", "Greets the user."));
/// ```
pub trait Prompt: Send + Sync + 'static {
    /// Returns the prompt's description for clients.
    fn spec(&self) -> &PromptSpec;

    /// Renders the messages. `args` contains every required argument.
    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>>;

    /// Suggests values for an argument that start with `typed`.
    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        let _ = (argument, typed);
        Box::pin(std::future::ready(Vec::new()))
    }
}

impl<T: Prompt + ?Sized> Prompt for Arc<T> {
    fn spec(&self) -> &PromptSpec {
        (**self).spec()
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        (**self).get(args, cx)
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        (**self).complete(argument, typed)
    }
}

/// The description of a prompt for clients.
///
/// ```
/// use onetool_core::{PromptArgument, PromptSpec};
///
/// let mut spec = PromptSpec::new("review", "Reviews files.");
/// spec.arguments.push(PromptArgument::required("files", "The files to review."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSpec {
    /// The name.
    pub name: String,
    /// The display name.
    pub title: Option<String>,
    /// What the prompt is for.
    pub description: Option<String>,
    /// The arguments.
    pub arguments: Vec<PromptArgument>,
}

impl PromptSpec {
    /// Creates the description of a prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: Some(description.into()), arguments: Vec::new() }
    }
}

/// An argument of a prompt. Its value is a string.
///
/// ```
/// use onetool_core::PromptArgument;
///
/// let argument = PromptArgument::required("files", "The files to review.");
/// assert!(argument.required);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// What the argument means.
    pub description: Option<String>,
    /// Whether the argument is required.
    pub required: bool,
}

impl PromptArgument {
    /// Creates a required argument.
    pub fn required(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: Some(description.into()), required: true }
    }
}

/// The author of a message.
///
/// ```
/// use onetool_core::{PromptMessage, Role};
///
/// assert_eq!(PromptMessage::user("Hello.").role, Role::User);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message of a prompt.
///
/// ```
/// use onetool_core::PromptMessage;
///
/// let messages = [PromptMessage::user("What is 2 + 2?"), PromptMessage::assistant("4")];
/// assert_eq!(messages[1].content.as_text(), Some("4"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptMessage {
    /// The author.
    pub role: Role,
    /// The content.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// Creates a message from the user.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message from the model.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// A rendered prompt.
///
/// ```
/// use onetool_core::{PromptMessage, PromptOutput};
///
/// let messages = vec![PromptMessage::user("Review the diff.")];
/// let output = PromptOutput { description: Some("A review.".into()), messages };
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptOutput {
    /// What the messages are for.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
}

/// A return type of prompt handlers: a message, several messages, or a `Result` of these.
///
/// ```
/// use onetool_core::{IntoPromptMessages, PromptMessage};
///
/// let messages = PromptMessage::user("Hello.").into_prompt_messages()?;
/// assert_eq!(messages.len(), 1);
/// # Ok::<(), onetool_core::PromptError>(())
/// ```
pub trait IntoPromptMessages {
    /// Converts the value to messages.
    ///
    /// # Errors
    /// If the handler failed.
    fn into_prompt_messages(self) -> Result<Vec<PromptMessage>, PromptError>;
}

impl IntoPromptMessages for PromptMessage {
    fn into_prompt_messages(self) -> Result<Vec<PromptMessage>, PromptError> {
        Ok(vec![self])
    }
}

impl IntoPromptMessages for Vec<PromptMessage> {
    fn into_prompt_messages(self) -> Result<Vec<PromptMessage>, PromptError> {
        Ok(self)
    }
}

impl<T: IntoPromptMessages, E: Into<BoxError>> IntoPromptMessages for Result<T, E> {
    fn into_prompt_messages(self) -> Result<Vec<PromptMessage>, PromptError> {
        self.map_err(PromptError::from_any)?.into_prompt_messages()
    }
}

type Completer = Box<dyn Fn(&str, &str) -> Vec<String> + Send + Sync>;

type Handler = Box<
    dyn Fn(JsonObject, CallContext) -> BoxFuture<'static, Result<Vec<PromptMessage>, PromptError>>
        + Send
        + Sync,
>;

/// A prompt made from a closure; see [`prompt_fn`]. All closures have this one type, so an array can hold several.
///
/// ```
/// use onetool_core::{CallContext, PromptFn, PromptMessage, prompt_fn};
///
/// fn prompts() -> Vec<PromptFn> {
///     vec![prompt_fn("hello", "Greets the user.", |(): (), _: CallContext| async { PromptMessage::user("Say hello.") })
///         .title("Hello")]
/// }
/// assert_eq!(prompts().len(), 1);
/// ```
pub struct PromptFn {
    spec: PromptSpec,
    handler: Handler,
    completer: Option<Completer>,
}

/// Creates a prompt whose arguments are derived from the handler's argument type; `()` means no arguments.
///
/// Prompt arguments in MCP are strings. They are parsed according to the type of their field: a number or boolean as
/// JSON, a list as a JSON array or as values separated by commas or line breaks.
///
/// ```
/// use onetool_core::{CallContext, PromptMessage, prompt_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The files to review.
///     files: Vec<String>,
/// }
///
/// let prompt = prompt_fn("review", "Reviews files.", |args: Review, _: CallContext| async move {
///     PromptMessage::user(format!("Review {}.", args.files.join(" and ")))
/// });
/// ```
///
/// A handler that returns something else does not compile (CUS-6.3):
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, prompt_fn};
/// fn cus_6_3_a_prompt_handler_returns_messages() {
///     prompt_fn("review", "", |args: (), _: CallContext| async move { 42 });
/// }
/// ```
pub fn prompt_fn<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, handler: F) -> PromptFn
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoPromptMessages,
{
    let schema = schema_for::<A>();
    let arguments = crate::parameters(&schema).map(|parameter| PromptArgument {
        name: parameter.name.to_owned(),
        description: parameter.description.map(str::to_owned),
        required: parameter.required,
    });
    let spec = PromptSpec {
        name: name.into(),
        title: None,
        description: Some(description.into()),
        arguments: arguments.collect(),
    };
    let shared = Arc::new((schema, handler));
    let handler: Handler = Box::new(move |args, cx| {
        let shared = shared.clone();
        Box::pin(async move {
            let (schema, handler) = &*shared;
            handler(parse_arguments(args, schema)?, cx).await.into_prompt_messages()
        })
    });
    PromptFn { spec, handler, completer: None }
}

impl PromptFn {
    /// Sets the display name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Sets a function that suggests values for arguments: `complete(argument, typed)`.
    #[must_use]
    pub fn completions(
        mut self,
        complete: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.completer = Some(Box::new(complete));
        self
    }
}

impl Prompt for PromptFn {
    fn spec(&self) -> &PromptSpec {
        &self.spec
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        let messages = (self.handler)(args, cx.clone());
        Box::pin(async move {
            Ok(PromptOutput { description: self.spec.description.clone(), messages: messages.await? })
        })
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            self.completer.as_ref().map_or_else(Vec::new, |complete| complete(argument, typed))
        })
    }
}

fn parse_arguments<A: DeserializeOwned>(args: JsonObject, schema: &JsonObject) -> Result<A, PromptError> {
    if !schema.contains_key("properties") {
        // `()` deserializes from null, a map type from the object.
        let value = if schema.get("type").is_some_and(|it| it == "null") { Value::Null } else { args.into() };
        return serde_json::from_value(value).map_err(invalid);
    }
    let mut typed = JsonObject::new();
    for (name, value) in args {
        let value = match (&value, schema["properties"].get(&name)) {
            (Value::String(text), Some(property)) => parse_value(text, property)
                .ok_or_else(|| PromptError::Argument { name: name.clone(), reason: expectation(property) })?,
            _ => value,
        };
        typed.insert(name, value);
    }
    serde_json::from_value(Value::Object(typed)).map_err(invalid)
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn invalid(error: serde_json::Error) -> PromptError {
    PromptError::Arguments { reason: error.to_string() }
}

fn has_type(property: &Value, name: &str) -> bool {
    match property.get("type") {
        Some(Value::String(it)) => it == name,
        Some(Value::Array(names)) => names.iter().any(|it| it == name),
        _ => false,
    }
}

fn parse_value(text: &str, property: &Value) -> Option<Value> {
    let is = |name| has_type(property, name);
    if is("array") {
        return Some(Value::Array(parse_list(text)));
    }
    if is("string") || !(is("integer") || is("number") || is("boolean")) {
        return Some(Value::String(text.to_owned()));
    }
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let is_valid = match &value {
        Value::Number(number) => is("number") || (is("integer") && !number.is_f64()),
        Value::Bool(_) => is("boolean"),
        _ => false,
    };
    is_valid.then_some(value)
}

/// Parses a JSON array, or values separated by commas or line breaks.
fn parse_list(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items;
    }
    text.split([',', '\n']).map(str::trim).filter(|it| !it.is_empty()).map(Value::from).collect()
}

fn expectation(property: &Value) -> String {
    let expected = match property.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter(|it| *it != "null").collect::<Vec<_>>().join(" or ")
        }
        _ => "another type".into(),
    };
    format!("expected {expected}")
}
