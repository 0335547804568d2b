//! What the log says about a handler that failed: its reason, bounded and without the values of its arguments.

use serde_json::Value;

use crate::JsonObject;

/// Longest reason in the log, in characters.
const MAX_REASON: usize = 500;
/// Arguments whose values are looked for in a reason; enough for a person's call, and cheap to keep for every call.
const MAX_VALUES: usize = 64;
const MAX_VALUE_BYTES: usize = 1024;
/// Shorter values (`5`, `a`, `yes`) stand in any sentence.
const MIN_VALUE_BYTES: usize = 4;
const MASK: &str = "***";

/// The values of a call that must not be logged, longest first.
pub struct FailureLog(Vec<String>);

impl FailureLog {
    /// Notes the values of a call's arguments.
    pub fn new(args: &JsonObject) -> Self {
        let mut values = Vec::new();
        args.values().for_each(|value| collect(value, &mut values));
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// Returns a handler's reason as it may be logged. Handlers like to quote what they were given.
    pub fn reason(&self, reason: &str) -> String {
        let masked = self.0.iter().fold(reason.to_owned(), |text, value| {
            text.replace(value.as_str(), MASK).replace(&value.escape_debug().to_string(), MASK)
        });
        match masked.char_indices().nth(MAX_REASON) {
            Some((end, _)) => format!("{}…", &masked[..end]),
            None => masked,
        }
    }
}

/// Collects the texts in a value. A long one is noted by its beginning, which is what a handler would quote of it.
fn collect(value: &Value, values: &mut Vec<String>) {
    if values.len() >= MAX_VALUES {
        return;
    }
    match value {
        Value::String(text) if text.len() >= MIN_VALUE_BYTES => {
            values.push(text[..text.floor_char_boundary(MAX_VALUE_BYTES)].to_owned());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, values)),
        Value::Object(entries) => entries.values().for_each(|item| collect(item, values)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn d2_a_reason_is_logged_without_the_values_of_the_arguments() {
        let args = json!({"path": "/home/ada/diary", "deep": [{"key": "diary"}], "n": 5, "short": "no",
            "lines": "one\ntwo"});
        let log = FailureLog::new(args.as_object().unwrap());
        assert_eq!(
            log.reason("no file /home/ada/diary (diary) after 5 tries"),
            "no file *** (***) after 5 tries"
        );
        assert_eq!(log.reason(&format!("cannot use {:?}", "one\ntwo")), "cannot use \"***\"");
        let long = log.reason(&"é".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_REASON + 1);
        assert_eq!(FailureLog::new(&JsonObject::new()).reason("disk is full"), "disk is full");
    }
}
