//! OpenAPI descriptions in JSON and YAML, and the messages that carry them to the process that parses them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|document: &[u8]| onetool_openapi::fuzzing::document(document));
