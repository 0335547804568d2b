//! Commands as agents send them: trigger words, fences, backticks, indentation, single literal calls.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| onetool::fuzzing::command(command));
