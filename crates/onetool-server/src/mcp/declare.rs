//! Adds `list: true` to the declared capabilities (CUS-4), which the SDK's types do not support.

use serde_json::Value;

/// Patches a response to `initialize` or `server/discover`; other messages do not change.
pub(super) fn declare_lists(message: &mut Value) {
    let Some(capabilities) = message.pointer_mut("/result/capabilities") else { return };
    for kind in ["resources", "prompts"] {
        if let Some(declared) = capabilities.get_mut(kind).and_then(Value::as_object_mut) {
            declared.insert("list".into(), Value::Bool(true));
        }
    }
}

/// Returns whether a message may be such a response, so that most messages need not be parsed.
pub(super) fn may_declare(message: &[u8]) -> bool {
    const KEY: &[u8] = b"\"capabilities\"";
    message.windows(KEY.len()).any(|window| window == KEY)
}
