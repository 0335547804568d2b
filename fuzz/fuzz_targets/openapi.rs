//! API descriptions, as JSON and as YAML, and the messages in which they are sent to the process that reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|document: &[u8]| onetool_openapi::fuzzing::document(document));
