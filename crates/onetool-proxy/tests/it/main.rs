//! Tests of onetool-proxy with real child processes and real servers on loopback.

#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod children;
mod config;
mod http;
mod input_requests;
mod kit;
mod lists;
mod recovery;
mod results;
mod web;

#[test]
fn every_test_file_is_a_module() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = std::fs::read_to_string(format!("{directory}/main.rs")).unwrap();
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "add `mod {module};` to main.rs"
        );
    }
}
