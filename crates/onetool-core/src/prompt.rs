//! Prompts: messages made from a few arguments.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::schema_of;
use crate::{BoxError, BoxFuture, CallContext, ContentBlock, JsonObject, PromptError};

/// A template for messages that a person can pick in their client.
pub trait Prompt: Send + Sync + 'static {
    /// Returns all that a client may know without getting it.
    fn spec(&self) -> &PromptSpec;

    /// Makes the messages; every required argument is there.
    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>>;

    /// Proposes values for an argument that begin with what was typed so far.
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

/// All that a client may know of a prompt without getting it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSpec {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt. Values travel as strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether it has to be given.
    pub required: bool,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// Makes a message of the person.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Makes a message of the model.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// What a prompt comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptOutput {
    /// What the messages are for.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
}

/// What a prompt handler may return.
pub trait IntoPromptMessages {
    /// Makes the messages.
    ///
    /// # Errors
    /// When the handler failed.
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

/// A prompt made from a closure; see [`prompt_fn`]. All of them are of one type, so that an array can hold several.
pub struct PromptFn {
    spec: PromptSpec,
    handler: Handler,
    completer: Option<Completer>,
}

/// Makes a prompt whose arguments come from the type of the handler's arguments; `()` takes none.
///
/// MCP carries prompt arguments as strings. They are read by the type of their field: a number or boolean as JSON,
/// a list as a JSON array or as values separated by commas or line breaks.
///
/// ```
/// use onetool_core::{CallContext, PromptMessage, prompt_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The files to look at.
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
    let schema = schema_of::<A>();
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
    let made = Arc::new((schema, handler));
    let handler: Handler = Box::new(move |args, cx| {
        let made = made.clone();
        Box::pin(async move {
            let (schema, handler) = &*made;
            handler(read_arguments(args, schema)?, cx).await.into_prompt_messages()
        })
    });
    PromptFn { spec, handler, completer: None }
}

impl PromptFn {
    /// Sets a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Proposes values for the arguments: `propose(argument, typed)`.
    #[must_use]
    pub fn completions(
        mut self,
        propose: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.completer = Some(Box::new(propose));
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
        Box::pin(
            async move { self.completer.as_ref().map_or_else(Vec::new, |propose| propose(argument, typed)) },
        )
    }
}

fn read_arguments<A: DeserializeOwned>(args: JsonObject, schema: &JsonObject) -> Result<A, PromptError> {
    if !schema.contains_key("properties") {
        // `()` reads null, a map type reads the object.
        let value = if schema.get("type").is_some_and(|it| it == "null") { Value::Null } else { args.into() };
        return serde_json::from_value(value).map_err(unreadable);
    }
    let mut typed = JsonObject::new();
    for (name, value) in args {
        let value = match (&value, schema["properties"].get(&name)) {
            (Value::String(text), Some(property)) => read_as(text, property)
                .ok_or_else(|| PromptError::Argument { name: name.clone(), reason: expectation(property) })?,
            _ => value,
        };
        typed.insert(name, value);
    }
    serde_json::from_value(Value::Object(typed)).map_err(unreadable)
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn unreadable(error: serde_json::Error) -> PromptError {
    PromptError::Arguments { reason: error.to_string() }
}

fn has_type(property: &Value, name: &str) -> bool {
    match property.get("type") {
        Some(Value::String(it)) => it == name,
        Some(Value::Array(names)) => names.iter().any(|it| it == name),
        _ => false,
    }
}

fn read_as(text: &str, property: &Value) -> Option<Value> {
    let scalar = |name| has_type(property, name);
    if scalar("array") {
        return Some(Value::Array(read_list(text)));
    }
    if scalar("string") || !(scalar("integer") || scalar("number") || scalar("boolean")) {
        return Some(Value::String(text.to_owned()));
    }
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let fits = match &value {
        Value::Number(number) => scalar("number") || (scalar("integer") && !number.is_f64()),
        Value::Bool(_) => scalar("boolean"),
        _ => false,
    };
    fits.then_some(value)
}

/// Reads a JSON array, or values separated by commas or line breaks.
fn read_list(text: &str) -> Vec<Value> {
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
