//! Lines from an MCP client over stdio.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &[u8]| onetool::fuzzing::client_lines(lines));
