//! Takes JSON values apart.

use onetool_core::JsonObject;
use serde_json::Value;

/// Takes a field out of an object; null if there is no such field, or no object.
pub(crate) fn take(value: &mut Value, field: &str) -> Value {
    value.get_mut(field).map(Value::take).unwrap_or_default()
}

/// Returns the object that a value is, if it is one.
pub(crate) fn object(value: Value) -> Option<JsonObject> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
