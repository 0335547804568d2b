//! The rules about wording, on small made-up files.

use super::{Phrase, check, phrase_lines};
use crate::sources::File;

fn findings(path: &str, text: &str) -> Vec<String> {
    let file = File { path: path.to_owned(), text: text.to_owned() };
    check(&[file]).iter().map(ToString::to_string).collect()
}

#[test]
fn every_line_of_the_list_is_a_phrase() {
    for line in phrase_lines() {
        let phrase = Phrase::parse(line).unwrap_or_else(|| panic!("{line}"));
        let words = phrase.words;
        assert!(
            words == words.to_lowercase() && !words.contains("  ") && !phrase.advice.is_empty(),
            "{line}"
        );
    }
}

#[test]
fn str_8_phrases_are_found_in_pages() {
    assert_eq!(
        findings("docs/a.md", "# A\n\nThe file\nstands next to it.\n"),
        [
            "docs/a.md:4: 'stands' reads as if translated: write 'is', 'appears', 'matches' or 'means' (STYLE.md)"
        ]
    );
    for text in [
        "It is\nno address.",
        "- *Calls under way* end.",
        "| x | read anew |",
        "[It mends](a.md) it.",
        "It stays as it is",
    ] {
        assert_eq!(findings("README.md", text).len(), 1, "{text}");
    }
}

#[test]
fn ordinary_sentences_and_code_are_left_alone() {
    for text in [
        "There is no shell. It is no longer used.",
        "The value fits in memory.",
        "See `it stands`, ``it `stands` ``, \"it stands\", [x](stands.md) and <img alt=\"lies\">.",
        "A span `that stands\nover two lines` ends.",
        "```\nit stands here\n```\n\n~~~text\n```\nit lies here\n~~~",
        "This is. No, it is not. Outstanding misfits.",
        "notifications/cancelled",
        "The value, as it is sent.",
    ] {
        assert_eq!(findings("docs/a.md", text), Vec::<String>::new(), "{text}");
    }
    for path in
        ["docs/requirements/ot.md", "tests/a.md", "docs/a.txt", "crates/onetool-web/assets/preact-htm.js"]
    {
        assert_eq!(findings(path, "// it stands"), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn str_8_comments_and_messages_in_rust_are_checked() {
    for text in [
        "/// It is\n/// no address.\nfn f() {}",
        "fn f() {} // It stands.",
        "/* It stands. */",
        "fn f() { bail!(\"'{key}' stands here twice\") }",
        "fn f() { bail!(\"one \\\n    stands here\") }",
        "const A: &str = r#\"it \"x\" stands\"#;",
        "#[error(\"no such thing stands\")] struct E;",
    ] {
        assert_eq!(findings("crates/a/src/lib.rs", text).len(), 1, "{text}");
    }
    for text in [
        "fn is_no_stands() { let stands = lies; }",
        "/// `stands`\n/// ```\n/// let stands = 1;\n/// ```\nfn f() {}",
        "fn f() { g(\"stands\", 'a', \"is {no} x\", \"say \\\"it stands\\\" now\", \"as `it stands` is\") }",
        "fn f() { g(\"this is\\nno more\") }",
    ] {
        assert_eq!(findings("crates/a/src/lib.rs", text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(
        findings("crates/a/src/lib.rs", "\n\nfn f() {\n    // A.\n    // Told.\n}\n")[0][..22],
        *"crates/a/src/lib.rs:5:"
    );
}

#[test]
fn only_comments_of_the_pages_scripts_and_styles_are_checked() {
    assert_eq!(findings("crates/onetool-web/assets/a.js", "f('it stands'); // it stands").len(), 1);
    assert_eq!(
        findings("crates/onetool-web/assets/a.css", "/* it stands */ .stands { color: red }").len(),
        1
    );
    assert_eq!(findings("tests/browser/a.js", "// it stands"), Vec::<String>::new());
}

#[test]
fn only_unreleased_changes_are_checked() {
    let text = "# Changelog\n\nIt stands.\n\n## [Unreleased]\n\n- It lies.\n\n## [1.0.0]\n\n- It stands.\n";
    assert_eq!(findings("CHANGELOG.md", text).len(), 1);
    assert!(findings("CHANGELOG.md", text)[0].starts_with("CHANGELOG.md:7:"));
}
