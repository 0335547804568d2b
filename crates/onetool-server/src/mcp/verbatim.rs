//! Sends results to the client unchanged, even if the SDK's types have no fields for their keys.
//!
//! The handler returns an empty result to the SDK that carries the real one as text under a random key. The transports
//! replace it with the real one.

use std::sync::LazyLock;

use rmcp::model::MetaObject;
use serde_json::{Map, Value};

static KEY: LazyLock<String> =
    LazyLock::new(|| format!("onetool/{:032x}", u128::from_ne_bytes(crate::random::bytes())));

/// Creates the metadata of an empty result that carries another.
pub(super) fn carry(result: &Value) -> MetaObject {
    MetaObject(Map::from_iter([(KEY.clone(), result.to_string().into())]))
}

/// Returns whether a message carries a result.
pub(super) fn is_carrier(message: &[u8]) -> bool {
    memchr::memmem::find(message, KEY.as_bytes()).is_some()
}

/// Replaces the result of a message with the one that it carries. Returns `None` if it carries none.
pub(super) fn restored(message: &[u8]) -> Option<Vec<u8>> {
    if !is_carrier(message) {
        return None;
    }
    let mut message: Map<String, Value> = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let Value::String(carried) = result.get_mut("_meta")?.get_mut(KEY.as_str())?.take() else { return None };
    let carried: Map<String, Value> = serde_json::from_str(&carried).ok()?;
    // Keep what the SDK adds to every result of a revision.
    result.retain(|key, _| key != "_meta" && !carried.contains_key(key));
    result.extend(carried);
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn seam_10_a_result_that_is_carried_comes_out_as_it_went_in() {
        let whole = json!({"content": [{"type": "text", "text": "a \"quote\"\n", "vendor": {"x": []}}], "_meta": {"k": 1}});
        for added in [json!({"resultType": "complete", "ttlMs": 0}), json!({})] {
            let mut result = added.clone();
            result["content"] = json!([]);
            result["_meta"] = Value::Object(carry(&whole).0);
            let message = json!({"jsonrpc": "2.0", "id": "a", "result": result}).to_string();
            let restored: Value = serde_json::from_slice(&restored(message.as_bytes()).unwrap()).unwrap();
            let mut expected = added;
            expected.as_object_mut().unwrap().extend(whole.as_object().unwrap().clone());
            assert_eq!(restored, json!({"jsonrpc": "2.0", "id": "a", "result": expected}));
        }
        assert_eq!(restored(br#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"onetool/0":"{}"}}}"#), None);
    }
}
