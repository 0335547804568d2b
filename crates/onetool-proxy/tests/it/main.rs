//! Tests of onetool-proxy against real processes and real loopback servers.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
mod calls;
mod children;
mod config;
mod http;
mod kit;
mod lists;
mod questions;
mod recovery;
mod web;

#[test]
fn no_test_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "add `mod {module};` to main.rs"
        );
    }
}
