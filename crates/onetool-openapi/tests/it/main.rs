//! OpenAPI descriptions at the crate's boundary: real documents, real HTTP over loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod bodies;
mod cache;
mod choices;
mod credentials;
mod documents;
mod fuzz;
mod network;
mod real;
mod schemas;
mod styles;
mod support;

use std::path::Path;

#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name == "main" || main.contains(&format!("mod {name};")), "{name} is not in main.rs");
    }
}
