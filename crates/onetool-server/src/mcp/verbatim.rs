//! Results that go to the client as they are, also where the SDK's types have no field for what they say.
//!
//! The handler gives the SDK an empty result that carries the whole one as text, under a key that nobody outside can
//! know, and the transports put it in its place.

use std::sync::LazyLock;

use rmcp::model::MetaObject;
use serde_json::{Map, Value};

static KEY: LazyLock<String> =
    LazyLock::new(|| format!("onetool/{:032x}", u128::from_ne_bytes(crate::random::bytes())));

/// Makes the metadata of an empty result that carries another.
pub(super) fn carry(result: &Value) -> MetaObject {
    MetaObject(Map::from_iter([(KEY.clone(), result.to_string().into())]))
}

/// Returns whether a message carries a result.
pub(super) fn is_carrier(message: &[u8]) -> bool {
    memchr::memmem::find(message, KEY.as_bytes()).is_some()
}

/// Returns a message whose result carries another with that one in its place; none if it carries none.
pub(super) fn restored(message: &[u8]) -> Option<Vec<u8>> {
    if !is_carrier(message) {
        return None;
    }
    let mut message: Map<String, Value> = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let Value::String(carried) = result.get_mut("_meta")?.get_mut(KEY.as_str())?.take() else { return None };
    let carried: Map<String, Value> = serde_json::from_str(&carried).ok()?;
    // What the SDK adds to every result of a revision stays.
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
