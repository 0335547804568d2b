//! Reading pages and comparing output.

use xtask::cargo;

use super::page::{Exchange, Item, read, with_outputs};
use super::{address, pages};

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn exchange(line: usize, command: &str, expected: &[&str]) -> Exchange {
    Exchange { line, length: 1, command: command.to_owned(), expected: strings(expected) }
}

#[test]
fn str_9_blocks_and_their_comments_are_read_in_order() {
    let page = "# A\n\n<!-- setup: a\nb -->\n<!-- write: x.yaml -->\n```yaml\nk: 1\n```\n\n\
                ```console\n$ one\nout\n$ two\n```\n\n<!-- not run: needs the internet -->\n```console\n$ three\n```\n\n\
                <!-- server -->\n```console\n$ four\n```\n\n```sh\n$ never\n```\n";
    assert_eq!(
        read(page).unwrap(),
        [
            Item::Setup { line: 3, script: "a\nb".into() },
            Item::Write { to: "x.yaml".into(), text: "k: 1\n".into() },
            Item::Console {
                line: 10,
                server: false,
                exchanges: vec![exchange(11, "one", &["out"]), exchange(13, "two", &[])]
            },
            Item::Skipped { line: 17, reason: "needs the internet".into() },
            Item::Console { line: 22, server: true, exchanges: vec![exchange(23, "four", &[])] },
        ]
    );
}

#[test]
fn an_invalid_page_is_an_error() {
    for page in
        ["```console\n$ a\n", "<!-- setup: a\n", "```console\nno command\n```\n", "<!-- not run -->\n"]
    {
        assert!(read(page).is_err(), "{page}");
    }
}

#[test]
fn an_ellipsis_matches_any_text_or_any_lines() {
    let matches = |expected: &[&str], output: &[&str]| exchange(1, "x", expected).matches(&strings(output));
    assert!(matches(&[], &[]));
    assert!(!matches(&[], &["a"]));
    assert!(!matches(&["a"], &[]));
    assert!(matches(&["a"], &["a"]));
    assert!(matches(&["token: V2…-… (kept)"], &["token: V2ab-cd (kept)"]));
    assert!(!matches(&["token: V2… (kept)"], &["token: V2ab (lost)"]));
    assert!(matches(&["a", "…", "z"], &["a", "b", "c", "z"]));
    assert!(matches(&["a", "  …", "z"], &["a", "z"]));
    assert!(!matches(&["a", "…", "z"], &["a", "b"]));
}

#[test]
fn blessing_replaces_only_the_output() {
    let page = "```console\n$ one \\\n  '{\n}'\nold\n$ two\n```\nend\n";
    let Some(Item::Console { exchanges, .. }) = read(page).unwrap().pop() else { panic!("a block") };
    let outputs = [(&exchanges[0], strings(&["new", "lines"])), (&exchanges[1], strings(&["more"]))];
    assert_eq!(
        with_outputs(page, &outputs),
        "```console\n$ one \\\n  '{\n}'\nnew\nlines\n$ two\nmore\n```\nend\n"
    );
}

#[test]
fn the_address_of_a_server_is_found_in_its_output() {
    assert_eq!(address("MCP: http://127.0.0.1:40123/mcp"), Some("127.0.0.1:40123"));
    assert_eq!(address("listening on 127.0.0.1:1"), Some("127.0.0.1:1"));
    assert_eq!(address("token: x"), None);
}

#[test]
fn str_9_the_readme_is_short_and_rust_blocks_are_doc_tests() {
    let text = |path: &str| std::fs::read_to_string(cargo::root().join(path)).unwrap();
    assert!(text("README.md").lines().count() <= 200);
    let doc_tests = text("crates/onetool/src/doc_tests.rs");
    for page in pages().unwrap() {
        let is_compiled = doc_tests.contains(&format!("/{page}\""));
        assert!(is_compiled || !text(&page).contains("```rust"), "add {page} to doc_tests.rs");
    }
}
