//! Parsing of untrusted JSON within a memory limit.

use serde_json::Value;

/// Maximum memory size of untrusted JSON once it is parsed, in bytes.
pub const MAX_JSON_WEIGHT: usize = 128 << 20;

/// Estimated memory size of a parsed value, in bytes.
const VALUE: usize = 80;
/// Estimated additional memory size of an object key, in bytes.
const KEY: usize = 64;

/// Estimates the memory size of JSON once it is parsed, in bytes, without parsing it.
///
/// A list of small numbers takes 40 times the size of its text, so a limit on the text alone does not bound memory.
pub fn json_weight(json: &[u8]) -> usize {
    let (mut values, mut keys) = (1_usize, 0_usize);
    let mut rest = json;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b',' | b'[' | b'{' => values += 1,
            b':' => keys += 1,
            b'"' => rest = after_string(tail),
            _ => {}
        }
    }
    json.len().saturating_add(values.saturating_mul(VALUE)).saturating_add(keys.saturating_mul(KEY))
}

/// Parses untrusted JSON. Returns `None` if it is invalid or would take more than [`MAX_JSON_WEIGHT`].
pub fn parse_bounded_json(json: &[u8]) -> Option<Value> {
    if json_weight(json) > MAX_JSON_WEIGHT {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// Returns the rest after a string whose opening quote was already consumed.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        let is_end = rest[at] == b'"';
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// Counts the bytes of a value as JSON without writing it.
pub fn json_size(value: &impl serde::Serialize) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail, and a value that is not JSON has no size.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h5_values_and_keys_count_but_not_what_is_inside_strings() {
        let weight = |json: &str| json_weight(json.as_bytes()) - json.len();
        assert_eq!(weight("1"), VALUE);
        assert_eq!(weight("[1,2,3]"), 4 * VALUE);
        assert_eq!(weight(r#"{"a":1,"b":[]}"#), 4 * VALUE + 2 * KEY);
        assert_eq!(weight(r#""a, [b] {c}: \" ,,,, \\""#), VALUE);
        assert_eq!(weight(r#"["\\","\"",3]"#), 4 * VALUE);
        for broken in ["\"", "\"\\", "[[[[", "", "\\"] {
            let _ = json_weight(broken.as_bytes());
        }
    }

    #[test]
    fn h5_no_text_takes_more_than_its_weight() {
        for text in ["[1,1,1,1,1,1,1,1]", "[{},{},{},{}]", r#"{"a":{"b":[1,"x",null]}}"#] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(size_of_tree(&value) <= json_weight(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn h5_json_that_is_large_in_memory_is_not_parsed() {
        assert_eq!(parse_bounded_json(b"[1]"), Some(serde_json::json!([1])));
        assert_eq!(parse_bounded_json(b"[1"), None);
        // Far below the limit as text, but above it as a tree.
        let text = format!("[{}1]", "1,".repeat(MAX_JSON_WEIGHT / VALUE));
        assert!(text.len() < MAX_JSON_WEIGHT / 20);
        assert_eq!(parse_bounded_json(text.as_bytes()), None);
    }

    fn size_of_tree(value: &serde_json::Value) -> usize {
        let own = size_of::<serde_json::Value>();
        own + match value {
            serde_json::Value::String(text) => text.len(),
            serde_json::Value::Array(items) => items.iter().map(size_of_tree).sum(),
            serde_json::Value::Object(members) => members
                .iter()
                .map(|(key, value)| size_of::<String>() + 16 + key.len() + size_of_tree(value))
                .sum(),
            _ => 0,
        }
    }
}
