//! Web pages. Their parsers may use any amount of stack and memory on large inputs, which is what the cage is for; small
//! ones must come out whole.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|html: &[u8]| onetool::fuzzing::page(html));
