//! Frames from the gateway to a sandboxed process.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| onetool_sandbox::fuzzing::gateway_frame(frame));
