//! Tests of the crate's public API, with real documents and real HTTP over loopback.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod bodies;
mod cache;
mod credentials;
mod documents;
mod fuzz;
mod network;
mod options;
mod real_apis;
mod responses;
mod schemas;
mod styles;
mod support;

use std::path::Path;

#[test]
fn every_file_in_this_directory_is_a_module() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(directory.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name == "main" || main.contains(&format!("mod {name};")), "{name} is not in main.rs");
    }
}
