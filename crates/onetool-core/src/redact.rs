//! Redacts error messages of failed handlers for the log: bounded, and without the values of the call's arguments.

use serde_json::Value;

use crate::{JsonObject, shorten};

/// Maximum length of a logged message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;
/// Maximum number of values to redact: enough for usual calls, and cheap to collect for every call.
const MAX_VALUES: usize = 64;
const MAX_VALUE_BYTES: usize = 1024;
/// Shorter values (`5`, `a`, `yes`) appear in any sentence.
const MIN_VALUE_BYTES: usize = 4;
const MASK: &str = "***";

/// Removes the argument values of a call from error messages. Holds the values, longest first.
pub struct FailureRedactor(Vec<String>);

impl FailureRedactor {
    /// Collects the values of a call's arguments.
    pub fn new(args: &JsonObject) -> Self {
        let mut values = Vec::new();
        args.values().for_each(|value| collect(value, &mut values));
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// Returns a handler's error message for the log. Handlers often quote their arguments.
    pub fn redact(&self, message: &str) -> String {
        let redacted = self.0.iter().fold(message.to_owned(), |text, value| {
            text.replace(value.as_str(), MASK).replace(&value.escape_debug().to_string(), MASK)
        });
        shorten(&redacted, MAX_MESSAGE_CHARS).into_owned()
    }
}

/// Collects the strings in a value. Keeps only the start of a long one, which is the part that a handler would quote.
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
        let redactor = FailureRedactor::new(args.as_object().unwrap());
        assert_eq!(
            redactor.redact("no file /home/ada/diary (diary) after 5 tries"),
            "no file *** (***) after 5 tries"
        );
        assert_eq!(redactor.redact(&format!("cannot use {:?}", "one\ntwo")), "cannot use \"***\"");
        let long = redactor.redact(&"é".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_MESSAGE_CHARS + 1);
        assert_eq!(FailureRedactor::new(&JsonObject::new()).redact("disk is full"), "disk is full");
    }
}
