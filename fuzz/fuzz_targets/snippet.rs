//! Snippets: how they are called, and that no value gets out of the string it is put into.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    onetool::fuzzing::snippet_call(text);
    let filled = onetool::fuzzing::snippet_value(text);
    assert!(filled.is_none_or(|value| value == text), "a value became code");
});
