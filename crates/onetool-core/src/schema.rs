//! JSON Schemas that can be built lazily.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::JsonObject;

/// The JSON Schema of an object, possibly built on first use. Cheap to clone.
///
/// This way a source with thousands of tools can describe them without building thousands of schemas:
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
    /// Creates a schema that `build` builds on first use. `build` must return the same schema every time.
    pub fn lazy(build: impl Fn() -> JsonObject + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { built: OnceLock::new(), build: Some(Box::new(build)) }))
    }

    /// Creates the schema of an object with any properties.
    pub fn any_object() -> Self {
        JsonObject::from_iter([("type".to_owned(), "object".into())]).into()
    }

    /// Creates the schema of a tool without arguments.
    pub(crate) fn no_arguments() -> Self {
        JsonObject::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), json!({}))])
            .into()
    }

    /// Returns the shared schema; builds it on first use.
    pub fn shared(&self) -> &Arc<JsonObject> {
        self.0
            .built
            .get_or_init(|| Arc::new(self.0.build.as_ref().map_or_else(JsonObject::new, |build| build())))
    }

    /// Checks for references that expand exponentially, see [`check_growth`](crate::validate::check_growth).
    ///
    /// # Errors
    /// If there are such references.
    #[cfg(feature = "validate")]
    pub fn check_growth(&self) -> Result<(), crate::validate::GrowthError> {
        crate::validate::check_growth(&self.peek())
    }

    /// Returns the schema without caching it, for code that visits all tools once.
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

/// A value that is not an object cannot describe arguments. It is converted to an invalid schema, so that registering
/// the tool fails.
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
