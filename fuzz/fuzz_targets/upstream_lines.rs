//! Lines from an upstream MCP server over stdio.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &[u8]| onetool_proxy::fuzzing::upstream_lines(lines));
