//! JSON Schemas that may be made only when somebody asks for them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::JsonObject;

/// The JSON Schema of an object, at hand or made when it is first used. Cheap to clone.
///
/// A source with thousands of tools describes them without building thousands of schemas:
///
/// ```
/// # use onetool_core::{JsonObject, Schema};
/// let schema = Schema::lazy(|| JsonObject::from_iter([("type".into(), "object".into())]));
/// assert_eq!(schema["type"], "object");
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    built: OnceLock<Arc<JsonObject>>,
    build: Option<Box<dyn Fn() -> JsonObject + Send + Sync>>,
}

impl Schema {
    /// Makes a schema that `build` makes on first use. It has to make the same every time.
    pub fn lazy(build: impl Fn() -> JsonObject + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { built: OnceLock::new(), build: Some(Box::new(build)) }))
    }

    /// Makes the schema of an object that may hold anything.
    pub fn any_object() -> Self {
        JsonObject::from_iter([("type".to_owned(), "object".into())]).into()
    }

    /// Makes the schema of a tool that takes no arguments.
    pub(crate) fn no_arguments() -> Self {
        JsonObject::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), json!({}))])
            .into()
    }

    /// Returns the schema, to be kept by somebody else too.
    pub fn shared(&self) -> &Arc<JsonObject> {
        self.0
            .built
            .get_or_init(|| Arc::new(self.0.build.as_ref().map_or_else(JsonObject::new, |build| build())))
    }

    /// Looks for references that multiply without end, see [`check_growth`](crate::validate::check_growth).
    ///
    /// # Errors
    /// When there are such references.
    #[cfg(feature = "validate")]
    pub fn growth(&self) -> Result<(), crate::validate::GrowthError> {
        crate::validate::check_growth(&self.peek())
    }

    /// Returns the schema without keeping it in memory, for somebody who goes through all tools once.
    pub fn peek(&self) -> Cow<'_, JsonObject> {
        match (self.0.built.get(), &self.0.build) {
            (Some(built), _) => Cow::Borrowed(built),
            (None, Some(build)) => Cow::Owned(build()),
            (None, None) => Cow::Owned(JsonObject::new()),
        }
    }
}

impl Deref for Schema {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        self.shared()
    }
}

impl From<JsonObject> for Schema {
    fn from(schema: JsonObject) -> Self {
        Self(Arc::new(Inner { built: OnceLock::from(Arc::new(schema)), build: None }))
    }
}

/// A value that is not an object cannot describe arguments. It makes a schema that no server accepts, so that the
/// mistake is told where the tool is registered.
impl From<Value> for Schema {
    fn from(schema: Value) -> Self {
        match schema {
            Value::Object(schema) => schema.into(),
            other => JsonObject::from_iter([("properties".to_owned(), other)]).into(),
        }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.peek() == other.peek()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.peek().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_lazy_schema_is_built_once_when_used_and_not_kept_when_peeked_at() {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        let schema = Schema::lazy(move || {
            seen.fetch_add(1, Ordering::Relaxed);
            JsonObject::from_iter([("type".into(), "object".into())])
        });
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert_eq!(schema.peek()["type"], "object");
        assert_eq!(schema.peek()["type"], "object");
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(schema["type"], "object");
        assert_eq!(schema.clone()["type"], "object");
        assert_eq!(schema, Schema::any_object());
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }
}
