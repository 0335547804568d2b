//! Snippets: parsing of calls, and values, which must not escape from the string they are inserted into.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    onetool::fuzzing::snippet_call(text);
    let filled = onetool::fuzzing::snippet_value(text);
    assert!(filled.is_none_or(|value| value == text), "a value escaped from its string");
});
