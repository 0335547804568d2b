//! Tools: what is known of them, how they are called, and how to make one from a closure.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BoxError, BoxFuture, CallContext, ContentBlock, JsonObject, Schema, ToolError, ToolName, ToolOutput,
};

/// Something a model can call.
pub trait Tool: Send + Sync + 'static {
    /// Returns all that a client may know without calling it.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool; `args` already satisfies `spec().input_schema`.
    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// All that a client may know of a tool without calling it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its canonical name.
    pub name: ToolName,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, in words for a model.
    pub description: String,
    /// The JSON Schema of its arguments; the order of the properties is the order of positional arguments.
    pub input_schema: Schema,
    /// The JSON Schema of its structured content.
    pub output_schema: Option<Schema>,
    /// Hints about its effects.
    pub annotations: Option<ToolAnnotations>,
    /// Protocol metadata, passed on as it is.
    pub meta: Option<JsonObject>,
}

impl ToolSpec {
    /// Makes the spec of a tool that takes no arguments.
    pub fn new(name: impl Into<ToolName>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: Schema::any_object(),
            output_schema: None,
            annotations: None,
            meta: None,
        }
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn with_input_schema(mut self, schema: impl Into<Schema>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// Sets the JSON Schema of the structured content.
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<Schema>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the hints about the tool's effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Returns the tool as a Python-like signature, made from its schema.
    pub fn signature(&self) -> String {
        crate::signature(self.name.as_str(), &self.input_schema.peek())
    }
}

/// Hints about a tool's effects, named as MCP names them. What is not set is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolAnnotations {
    /// Changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Twice is the same as once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches out into a world that nobody controls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Tells whether no hint is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Makes the hints of a tool that changes nothing.
    pub fn read_only() -> Self {
        Self { read_only_hint: Some(true), ..Self::default() }
    }
}

/// A value that a typed handler returns as data.
///
/// ```
/// # use onetool_core::{IntoToolOutput, Json};
/// let output = Json(vec![1, 2]).into_tool_output()?;
/// assert_eq!(output.structured_content, Some(serde_json::json!([1, 2])));
/// # Ok::<(), onetool_core::ToolError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

/// What a tool handler may return.
pub trait IntoToolOutput {
    /// Makes the output.
    ///
    /// # Errors
    /// When the handler failed, or its value cannot be written as JSON.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::default())
    }
}

impl IntoToolOutput for ContentBlock {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for Vec<ContentBlock> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        serde_json::to_value(self.0).map(ToolOutput::structured).map_err(ToolError::from_any)
    }
}

impl<T: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(ToolError::from_any)?.into_tool_output()
    }
}

/// A tool made from a closure; see [`tool_fn`] and [`dynamic_tool`].
pub struct ToolFn<A, F> {
    spec: ToolSpec,
    handler: F,
    arguments: PhantomData<fn(A)>,
}

/// Makes a tool whose schema comes from the type of the handler's arguments.
///
/// The doc comments of the type's fields become the descriptions of the parameters. The handler may return text, a
/// [`ToolOutput`], content blocks, data in [`Json`], or a `Result` of these with any error.
///
/// ```
/// use onetool_core::{CallContext, Json, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum {
///     /// What to add up.
///     numbers: Vec<f64>,
/// }
///
/// let tool = tool_fn("math.sum", "Adds numbers.", |args: Sum, _cx: CallContext| async move {
///     Json(args.numbers.iter().sum::<f64>())
/// });
/// ```
///
/// A handler whose argument type is no argument type does not compile (CUS-6.1):
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, tool_fn};
/// fn cus_6_1_a_tool_handler_takes_arguments() {
///     struct NotDeserializable;
///     tool_fn("a.b", "", |args: NotDeserializable, _cx: CallContext| async move { "" });
/// }
/// ```
///
/// Nor does one that returns something that is no output:
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, JsonObject, tool_fn};
/// fn cus_6_1_a_tool_handler_returns_output() {
///     tool_fn("a.b", "", |args: JsonObject, _cx: CallContext| async move { std::thread::current() });
/// }
/// ```
pub fn tool_fn<A, F, Fut>(
    name: impl Into<ToolName>,
    description: impl Into<String>,
    handler: F,
) -> ToolFn<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolOutput,
{
    // Made when somebody asks: a server may have many tools that nobody calls.
    let spec = ToolSpec::new(name, description).with_input_schema(Schema::lazy(schema_of::<A>));
    ToolFn { spec, handler, arguments: PhantomData }
}

/// Makes a tool whose spec is known only at run time; its handler gets the arguments as they came.
///
/// ```
/// use onetool_core::{CallContext, JsonObject, ToolSpec, dynamic_tool};
///
/// let spec = ToolSpec::new("echo", "Gives back what it gets.");
/// let tool = dynamic_tool(spec, |args: JsonObject, _cx: CallContext| async move {
///     serde_json::Value::Object(args).to_string()
/// });
/// ```
pub fn dynamic_tool<F, Fut>(spec: ToolSpec, handler: F) -> ToolFn<JsonObject, F>
where
    F: Fn(JsonObject, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolOutput,
{
    ToolFn { spec, handler, arguments: PhantomData }
}

impl<A, F> ToolFn<A, F> {
    /// Sets the hints about the tool's effects.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.spec.annotations = Some(annotations);
        self
    }

    /// Sets a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Takes the schema of the structured content from a type.
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.spec.output_schema = Some(schema_of::<T>().into());
        self
    }
}

impl<A, F, Fut> Tool for ToolFn<A, F>
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolOutput,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args = serde_json::from_value(Value::Object(args))
                .map_err(|error| ToolError::Arguments { reason: error.to_string() })?;
            (self.handler)(args, cx.clone()).await.into_tool_output()
        })
    }
}

/// Returns the JSON Schema of a type, without the keys that say nothing to a client.
pub(crate) fn schema_of<T: JsonSchema>() -> JsonObject {
    let schema =
        schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else { return JsonObject::new() };
    schema.shift_remove("$schema");
    schema.shift_remove("title");
    schema
}
