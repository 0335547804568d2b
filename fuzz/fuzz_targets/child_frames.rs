//! Frames from a sandboxed process to the gateway.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|frames: &[u8]| onetool_sandbox::fuzzing::child_frames(frames));
