//! YAML that the `ot` pack writes parses back to the same data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|json: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    for text in onetool::fuzzing::yaml(&value) {
        let parsed: Value = serde_saphyr::from_str(&text).expect("the output is YAML");
        assert_eq!(parsed, value, "{text}");
    }
});
