//! Adds `list: true` to the declared capabilities (CUS-4), which the SDK's typed model cannot say.

use serde_json::Value;

/// Patches the answer to `initialize` or `server/discover`; every other message stays as it is.
pub(super) fn declare_lists(message: &mut Value) {
    let Some(capabilities) = message.pointer_mut("/result/capabilities") else { return };
    for kind in ["resources", "prompts"] {
        if let Some(declared) = capabilities.get_mut(kind).and_then(Value::as_object_mut) {
            declared.insert("list".into(), Value::Bool(true));
        }
    }
}

/// Tells at a glance whether a message could be one of the two, so that all others are passed on untouched.
pub(super) fn may_declare(message: &[u8]) -> bool {
    const KEY: &[u8] = b"\"capabilities\"";
    message.windows(KEY.len()).any(|window| window == KEY)
}
