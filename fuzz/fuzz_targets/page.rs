//! Web pages. On large inputs the parsers may use any amount of stack and memory, which the cage contains; small inputs
//! must not fail.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|html: &[u8]| onetool::fuzzing::page(html));
