//! Configuration files.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|yaml: &str| onetool::fuzzing::config(yaml));
