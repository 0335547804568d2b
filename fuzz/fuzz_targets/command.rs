//! Commands as agents send them: trigger words, fences, backticks, indentation, one literal call.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| onetool::fuzzing::command(command));
