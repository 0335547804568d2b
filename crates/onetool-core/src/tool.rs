//! Tools: their description, how they are called, and how to create one from a closure.

use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BoxError, BoxFuture, CallContext, ContentBlock, JsonObject, Schema, ToolError, ToolName, ToolOutput,
};

/// A function that a model can call.
///
/// Most tools are closures, see [`tool_fn`].
///
/// ```
/// use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec};
///
/// struct Ping(ToolSpec);
///
/// impl Tool for Ping {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     fn call<'a>(&'a self, _: JsonObject, _: &'a CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
///         Box::pin(async { Ok(ToolOutput::text("pong")) })
///     }
/// }
///
/// let tool = Ping(ToolSpec::new("demo.ping", "Returns pong."));
/// ```
pub trait Tool: Send + Sync + 'static {
    /// Returns the tool's description for clients.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool. `args` matches `spec().input_schema`.
    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (**self).call(args, cx)
    }
}

/// The description of a tool for clients.
///
/// ```
/// use onetool_core::{ToolAnnotations, ToolSpec};
///
/// let spec = ToolSpec::new("orders.list", "Lists orders.").with_annotations(ToolAnnotations::read_only());
/// assert_eq!(spec.name.pack(), Some("orders"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The canonical name.
    pub name: ToolName,
    /// The display name.
    pub title: Option<String>,
    /// What the tool does, written for a model.
    pub description: String,
    /// The JSON Schema of the arguments; the order of the properties is the order of positional arguments.
    pub input_schema: Schema,
    /// The JSON Schema of the structured content.
    pub output_schema: Option<Schema>,
    /// Hints about the tool's effects.
    pub annotations: Option<ToolAnnotations>,
    /// Protocol metadata, passed on unchanged.
    pub meta: Option<JsonObject>,
    /// Other keys to list, as MCP names them: `icons`, `execution`, and keys from newer revisions. If it contains
    /// `annotations`, these are listed instead of the hints above; they include the hints.
    pub extra: JsonObject,
}

impl ToolSpec {
    /// Creates a description with an input schema that accepts any object.
    pub fn new(name: impl Into<ToolName>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: Schema::any_object(),
            output_schema: None,
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Sets the JSON Schema of the arguments.
    ///
    /// ```
    /// use onetool_core::ToolSpec;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    /// let spec = ToolSpec::new("orders.get", "Gets an order.").with_input_schema(schema);
    /// assert_eq!(spec.signature(), "orders.get(id: int)");
    /// ```
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

    /// Returns a Python-like signature, derived from the input schema.
    pub fn signature(&self) -> String {
        crate::signature(self.name.as_str(), &self.input_schema.peek())
    }

    /// Returns the signature, shortened to a readable length.
    pub fn short_signature(&self) -> String {
        crate::short_signature(self.name.as_str(), &self.input_schema.peek())
    }
}

/// Hints about a tool's effects, named as in MCP. Hints that are not set are omitted.
///
/// ```
/// use onetool_core::ToolAnnotations;
///
/// let hints = ToolAnnotations { idempotent_hint: Some(true), ..ToolAnnotations::read_only() };
/// assert!(!hints.is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolAnnotations {
    /// The tool does not change anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may delete or overwrite data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Repeating a call with the same arguments has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool interacts with external systems, such as the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Returns whether no hint is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Creates the hints of a read-only tool.
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

/// A return type of tool handlers: text, data, content blocks, a [`ToolOutput`], `()`, or a `Result` of these.
///
/// ```
/// use onetool_core::IntoToolOutput;
///
/// let output = "hello".into_tool_output()?;
/// assert_eq!(output.content[0].as_text(), Some("hello"));
/// # Ok::<(), onetool_core::ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool handler cannot return `{Self}`",
    note = "return text, data in `Json` or a `serde_json::Value`, content blocks, a `ToolOutput`, `()`, or a `Result` of these"
)]
pub trait IntoToolOutput {
    /// Converts the value to a tool output.
    ///
    /// # Errors
    /// If the handler failed, or its value cannot be serialized as JSON.
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

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::structured(self))
    }
}

impl<T: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(ToolError::from_any)?.into_tool_output()
    }
}

/// Marks a tool without a declared output type.
#[derive(Debug, Clone, Copy)]
pub struct Undeclared;

/// Marks a tool whose output type is declared with [`ToolFn::output`].
#[derive(Debug, Clone, Copy)]
pub struct Declares<T>(PhantomData<fn() -> T>);

/// A handler's return type that is compatible with the tool's declaration `D`: [`Undeclared`], or [`Declares`] with a
/// type.
///
/// A handler that returns [`Json<T>`] can declare only `T`. One that returns a [`ToolOutput`] or a [`Value`] can declare
/// any type, and one that returns text none.
#[diagnostic::on_unimplemented(
    message = "a tool declared as `{D}` cannot have a handler that returns `{Self}`",
    note = "the type in `.output::<T>()` must be the type that the handler returns in `Json<T>`",
    note = "a handler returns text, data in `Json` or a `serde_json::Value`, content blocks, a `ToolOutput`, `()`, or a `Result` of these"
)]
pub trait Returns<D>: IntoToolOutput {}

impl<O: IntoToolOutput> Returns<Undeclared> for O {}
impl<T: Serialize> Returns<Declares<T>> for Json<T> {}
impl<T> Returns<Declares<T>> for ToolOutput {}
impl<T> Returns<Declares<T>> for Value {}
impl<T, O: Returns<Declares<T>>, E: Into<BoxError>> Returns<Declares<T>> for Result<O, E> {}

/// Constrains two types to be equal.
pub trait SameAs<T> {}

impl<T> SameAs<T> for T {}

type Handler =
    Box<dyn Fn(JsonObject, CallContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

/// A tool made from a closure; see [`tool_fn`] and [`dynamic_tool`].
///
/// All closures have this one type, so an array or a `Vec` can hold several.
///
/// ```
/// use onetool_core::{CallContext, ToolAnnotations, ToolFn, tool_fn};
///
/// let tools: [ToolFn; 2] = [
///     tool_fn("demo.ping", "Returns pong.", |(): (), _: CallContext| async { "pong" }),
///     tool_fn("demo.time", "Returns the time.", |(): (), _: CallContext| async { "noon" })
///         .annotations(ToolAnnotations::read_only()),
/// ];
/// ```
pub struct ToolFn<D = Undeclared> {
    spec: ToolSpec,
    handler: Handler,
    declared: PhantomData<fn() -> D>,
}

/// Creates a tool whose input schema is derived from the handler's argument type.
///
/// The doc comments of the type's fields become the descriptions of the parameters; `()` means no parameters. The
/// handler may return text, a [`ToolOutput`], content blocks, data in [`Json`] or as a [`Value`], or a `Result` of these
/// with any error.
///
/// ```
/// use onetool_core::{CallContext, Json, Tool, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum {
///     /// The numbers to add.
///     numbers: Vec<f64>,
/// }
///
/// let tool = tool_fn("math.sum", "Adds numbers.", |args: Sum, _cx: CallContext| async move {
///     Json(args.numbers.iter().sum::<f64>())
/// });
/// assert_eq!(tool.spec().signature(), "math.sum(numbers: list[float])");
/// ```
///
/// A handler whose argument type cannot be deserialized does not compile (CUS-6.1):
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, tool_fn};
/// fn cus_6_1_a_tool_handler_takes_arguments() {
///     struct NotDeserializable;
///     tool_fn("a.b", "", |args: NotDeserializable, _cx: CallContext| async move { "" });
/// }
/// ```
///
/// Nor does one whose return type is not an output:
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, JsonObject, tool_fn};
/// fn cus_6_1_a_tool_handler_returns_output() {
///     tool_fn("a.b", "", |args: JsonObject, _cx: CallContext| async move { std::thread::current() });
/// }
/// ```
pub fn tool_fn<A, F, Fut, D>(
    name: impl Into<ToolName>,
    description: impl Into<String>,
    handler: F,
) -> ToolFn<D>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Returns<D>,
{
    // Lazy, because a server may have many tools that are never called.
    let spec = ToolSpec::new(name, description).with_input_schema(Schema::lazy(arguments_schema::<A>));
    ToolFn { spec, handler: boxed(handler, parse_arguments), declared: PhantomData }
}

/// Creates a tool whose description is known only at run time; its handler gets the arguments as JSON.
///
/// ```
/// use onetool_core::{CallContext, JsonObject, ToolSpec, dynamic_tool};
///
/// let spec = ToolSpec::new("echo", "Returns its arguments.");
/// let tool = dynamic_tool(spec, |args: JsonObject, _cx: CallContext| async move {
///     serde_json::Value::Object(args).to_string()
/// });
/// ```
pub fn dynamic_tool<F, Fut>(spec: ToolSpec, handler: F) -> ToolFn
where
    F: Fn(JsonObject, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolOutput,
{
    ToolFn { spec, handler: boxed(handler, Ok), declared: PhantomData }
}

impl<D> ToolFn<D> {
    /// Sets the hints about the tool's effects.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.spec.annotations = Some(annotations);
        self
    }

    /// Sets the display name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Declares the type of the handler's data, from which the output schema is derived.
    ///
    /// ```
    /// use onetool_core::{CallContext, Json, Tool, tool_fn};
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct Hits {
    ///     titles: Vec<String>,
    /// }
    ///
    /// let tool = tool_fn("notes.search", "Searches the notes.", |(): (), _cx: CallContext| async {
    ///     Json(Hits { titles: vec![] })
    /// });
    /// assert_eq!(tool.output::<Hits>().spec().output_schema.as_ref().unwrap()["type"], "object");
    /// ```
    ///
    /// A type that contradicts what the handler returns does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use onetool_core::{CallContext, Json, Tool, tool_fn};
    /// fn d11_an_output_type_that_contradicts_the_handler_does_not_compile() {
    ///     let handler = |(): (), _cx: CallContext| async { Json(vec![1, 2]) };
    ///     tool_fn("a.b", "", handler).output::<String>().spec();
    /// }
    /// ```
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> ToolFn
    where
        Declares<T>: SameAs<D>,
    {
        // The schema of a type that accepts any value is empty.
        self.spec.output_schema = Some(schema_for::<T>()).filter(|it| !it.is_empty()).map(Schema::from);
        ToolFn { spec: self.spec, handler: self.handler, declared: PhantomData }
    }
}

impl Tool for ToolFn {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (self.handler)(args, cx.clone())
    }
}

/// Erases the type of a handler. Neither `parse` nor the handler runs before the future is polled.
fn boxed<A, F, Fut>(handler: F, parse: fn(JsonObject) -> Result<A, ToolError>) -> Handler
where
    A: Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolOutput,
{
    let handler = Arc::new(handler);
    Box::new(move |args, cx| {
        let handler = handler.clone();
        Box::pin(async move { handler(parse(args)?, cx).await.into_tool_output() })
    })
}

/// Converts arguments to the handler's argument type. A type without fields, such as `()`, is deserialized from null.
fn parse_arguments<A: DeserializeOwned + JsonSchema>(args: JsonObject) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args)).or_else(|error| {
        let unit = is_unit(&schema_for::<A>()).then(|| serde_json::from_value(Value::Null).ok());
        unit.flatten().ok_or_else(|| ToolError::Arguments { reason: error.to_string() })
    })
}

fn arguments_schema<A: JsonSchema>() -> JsonObject {
    let schema = schema_for::<A>();
    if is_unit(&schema) { (*Schema::no_arguments()).clone() } else { schema }
}

fn is_unit(schema: &JsonObject) -> bool {
    schema.get("type").is_some_and(|it| it == "null")
}

/// Returns the JSON Schema of a type, without the keys that are useless to a client.
pub(crate) fn schema_for<T: JsonSchema>() -> JsonObject {
    let schema =
        schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else { return JsonObject::new() };
    schema.shift_remove("$schema");
    schema.shift_remove("title");
    schema
}
