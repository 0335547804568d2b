//! The YAML that the `ot` pack writes reads back as the same data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|json: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    for text in onetool::fuzzing::yaml(&value) {
        let read: Value = serde_saphyr::from_str(&text).expect("it is YAML");
        assert_eq!(read, value, "{text}");
    }
});
