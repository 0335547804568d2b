//! The rules on small made-up workspaces.

use super::check;
use crate::sources::File;

const PAGE: &str = "| id | requirement |\n|---|---|\n| OT-6.7 | a |\n| N4 | b |\n";
const BOTH: &str = "//! Tests.\n\n#[test]\nfn ot_6_7_x() {}\n\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn n4_y() {}\n";

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<File> = files
        .iter()
        .map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() })
        .collect();
    check(&files).iter().map(ToString::to_string).collect()
}

fn only(files: &[(&str, &str)]) -> String {
    let found = findings(files);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

#[test]
fn files_begin_with_a_header() {
    assert!(
        only(&[("crates/a/src/lib.rs", "fn a() {}\n")]).starts_with("crates/a/src/lib.rs:1: the first line")
    );
    assert!(findings(&[("crates/a/src/lib.rs", "//! A.\n")]).is_empty());
}

#[test]
fn long_files_are_found() {
    let text = "//! A.\n".to_owned() + &"\n".repeat(1000);
    assert!(only(&[("a.rs", &text)]).starts_with("a.rs:1001: 1001 lines"));
    assert!(findings(&[("a.rs", text.trim_end_matches('\n'))]).is_empty());
}

#[test]
fn packages_use_the_lints_of_the_workspace() {
    let without = "[package]\nname = \"a\"\nlicense.workspace = true\n\n[dependencies]\nworkspace = true\n";
    assert!(only(&[("crates/a/Cargo.toml", without)]).contains("`[lints]`"));
    assert!(findings(&[("crates/a/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n")]).is_empty());
    assert!(findings(&[("Cargo.toml", "[workspace]\nmembers = []\n")]).is_empty());
    assert!(findings(&[("fuzz/Cargo.toml", "[package]\nname = \"a\"\n\n[workspace]\n")]).is_empty());
}

#[test]
fn rmcp_is_used_only_where_it_may_be() {
    for line in ["use SDK::model::Tool;", "    let x: SDK::Error = y;", "use SDK as sdk;", "pub use SDK;"] {
        let text = format!("//! A.\n{line}\n").replace("SDK", "rmcp");
        assert!(
            only(&[("crates/onetool-server/src/server.rs", &text)]).contains(":2: rmcp is used"),
            "{line}"
        );
        assert!(findings(&[("crates/onetool-server/src/mcp/handler.rs", &text)]).is_empty());
        assert!(findings(&[("crates/onetool-bench/examples/echo_bare.rs", &text)]).is_empty());
    }
    for line in ["// as rmcp::Tool does", "const FILTER: &str = \"info,rmcp=error\";", "use my_rmcp::Tool;"] {
        let text = format!("//! A.\n{line}\n");
        assert!(findings(&[("crates/onetool-server/src/server.rs", &text)]).is_empty(), "{line}");
    }
}

#[test]
fn every_id_has_a_test_or_is_pending() {
    assert!(findings(&[("docs/requirements/ot.md", PAGE), ("crates/a/tests/it/a.rs", BOTH)]).is_empty());
    let one = "//! Tests.\n#[test]\nfn ot_6_7_x() {}\n";
    let found = only(&[("docs/requirements/ot.md", PAGE), ("a.rs", one)]);
    assert_eq!(
        found,
        "docs/requirements/ot.md:4: N4 has no test: add one named `n4_…`, or `N4 reason` to docs/requirements-pending.txt"
    );
    assert!(
        findings(&[
            ("docs/requirements/ot.md", PAGE),
            ("a.rs", one),
            ("docs/requirements-pending.txt", "# later\nN4 issue 3\n")
        ])
        .is_empty()
    );
}

#[test]
fn only_listed_families_of_ids_count() {
    let page = "| CON-7 | a |\n| H4 | b |\n";
    let tests = "//! A.\n#[test]\nfn con_7_x() {}\n#[test]\nfn h4_y() {}\n#[test]\nfn s3_z() {}\n";
    assert!(findings(&[("docs/requirements/a.md", page), ("a.rs", tests)]).is_empty());
    let unknown = tests.to_owned() + "#[test]\nfn con_8_x() {}\n";
    assert!(only(&[("docs/requirements/a.md", page), ("a.rs", &unknown)]).contains("`con_8_x`"));
}

#[test]
fn longer_numbers_are_other_ids() {
    let page = "| OT-6.7 | a |\n";
    let found =
        findings(&[("docs/requirements/ot.md", page), ("a.rs", "//! A.\n#[test]\nfn ot_6_70_x() {}\n")]);
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn doc_tests_count_but_helpers_and_comments_do_not() {
    let page = "| CUS-6.1 | a |\n";
    for text in [
        "//! A.\nfn cus_6_1_helper() {}\n",
        "//! A.\n// fn cus_6_1_x() {}\n",
        "//! A.\n#[test]\nfn a() {}\nfn cus_6_1_x() {}\n",
    ] {
        assert!(
            only(&[("docs/requirements/cus.md", page), ("a.rs", text)]).contains("CUS-6.1 has no test"),
            "{text}"
        );
    }
    for text in ["//! A.\n/// fn cus_6_1_x() {}\n", "//! A.\n//! # fn cus_6_1_x() {\n"] {
        assert!(findings(&[("docs/requirements/cus.md", page), ("a.rs", text)]).is_empty(), "{text}");
    }
}

#[test]
fn the_list_of_pending_ids_only_shrinks() {
    let pending = |line: &str| {
        only(&[("docs/requirements/ot.md", PAGE), ("a.rs", BOTH), ("docs/requirements-pending.txt", line)])
    };
    assert!(pending("N4 issue 3\n").contains(":1: N4 has a test (a.rs:7): remove this line"));
    assert!(pending("X9 issue 3\n").contains("X9 is not listed"));
    assert!(pending("N4 part:\n").contains("N4 has no reason"));
    assert!(pending("N4 part: a\nN4 part: b\n").contains(":2: duplicate N4"));
}

#[test]
fn a_part_may_be_pending_while_the_rest_is_tested() {
    let pending = ("docs/requirements-pending.txt", "N4 part: upstreams\n");
    let page = ("docs/requirements/ot.md", "| N4 | b |\n");
    assert!(findings(&[page, pending, ("a.rs", "//! A.\n#[test]\nfn n4_x() {}\n")]).is_empty());
    assert!(only(&[page, pending]).contains("but it has no test"));
}

#[test]
fn a_test_with_an_unknown_id_is_found() {
    for name in ["ot_6_8_x", "ot_10_1_x", "n5_x"] {
        let text = format!("//! A.\n\n#[test]\nfn {name}() {{}}\n");
        let page = ("docs/requirements/ot.md", PAGE);
        let tests = format!("{BOTH}{}", &text["//! A.\n".len()..]);
        assert!(only(&[page, ("a.rs", &tests)]).contains(&format!("test `{name}` begins with an id")));
    }
    for name in ["find_2_largest", "ot_text", "a_1", "base64_x", "run_all_2_x"] {
        let text = format!("//! A.\n#[test]\nfn {name}() {{}}\n");
        assert!(findings(&[("a.rs", &text)]).is_empty(), "{name}");
    }
}

#[test]
fn an_id_is_listed_once() {
    let page = "| N4 | b |\n| N4 | c |\n";
    let found = only(&[("docs/requirements/a.md", page), ("a.rs", "//! A.\n#[test]\nfn n4_x() {}\n")]);
    assert_eq!(
        found,
        "docs/requirements/a.md:2: N4 is already listed at docs/requirements/a.md:1: remove one"
    );
}

#[test]
fn tests_named_in_the_security_page_exist() {
    let source = ("crates/a/src/lib.rs", "//! A.\n\nasync fn nothing_is_served_without_the_token() {}\n");
    let page = "| cannot | do it | `nothing_is_served_without_the_token` |\n`http.max_a_b_c_d` `max_total_memory_mb`\n";
    assert_eq!(findings(&[source, ("SECURITY.md", page)]), Vec::<String>::new());
    let found = only(&[source, ("SECURITY.md", "\n| cannot | `nothing_is_served_to_web_pages` |\n")]);
    assert!(found.starts_with("SECURITY.md:2: there is no test `nothing_is_served_to_web_pages`"), "{found}");
}

#[test]
fn str_11_only_named_tests_are_retried_and_for_a_reason() {
    let source = ("crates/a/tests/it/a.rs", "//! A.\n\n#[test]\nfn slow() {}\n");
    let config = |text: &str| findings(&[source, (".config/nextest.toml", text)]);
    let override_ = |comment: &str, filter: &str| {
        format!(
            "[profile.default]\nretries = 0\n\n{comment}[[profile.default.overrides]]\nfilter = '{filter}'\nretries = 2\n"
        )
    };
    let good = override_("# The kernel may refuse a port: issue 7.\n", "test(=a::slow) | test(=slow)");
    assert_eq!(config(&good), Vec::<String>::new());
    for (text, expected) in [
        ("[profile.default]\nretries = 2\n".to_owned(), ":2: tests are not retried by default"),
        (
            "[profile.ci]\nretries = { backoff = \"fixed\", count = 2 }\n".to_owned(),
            ":2: tests are not retried",
        ),
        (override_("", "test(=slow)"), ":6: say in a comment"),
        (override_("# Slow.\n", "all()"), ":7: 'all()' does not name a test"),
        (override_("# Slow.\n", "test(/slow/)"), ":7: 'test(/slow/)' does not name a test"),
        (override_("# Slow.\n", "test(=slow) | test(=fast)"), ":7: there is no test `fast`"),
    ] {
        let found = config(&text);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].contains(expected), "{} {expected}", found[0]);
    }
}

#[test]
fn str_7_helpers_exist_once() {
    let source = "//! A.\n\nfn lock() {\n    self.0.lock().unwrap_or_else(PoisonError::into_inner)\n}\n";
    let found = only(&[("crates/onetool-x/src/a.rs", source)]);
    assert_eq!(found, "crates/onetool-x/src/a.rs:4: `PoisonError`: use `onetool_core::sync::Unpoisoned`");
    for path in [
        "crates/onetool-core/src/sync.rs",
        "crates/onetool-cage/src/slots.rs",
        "crates/onetool-x/tests/it/a.rs",
    ] {
        assert_eq!(findings(&[(path, source)]), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn str_5_public_items_have_an_example() {
    let root = "//! A.\nmod a;\npub mod b;\n#[doc(hidden)]\npub mod c;\npub use a::{Tool, inner::Deep};\n#[doc(hidden)]\npub use a::Own;\n";
    let with = "/// Text.\n///\n/// ```\n/// ```\n";
    let files = |tool: &str, deep: &str, b: &str| {
        let a =
            format!("//! A.\npub mod inner;\n{tool}pub struct Tool;\npub struct Own;\npub struct Unused;\n");
        let inner = format!("//! A.\n{deep}pub fn Deep() {{}}\n");
        let b = format!(
            "//! A.\n{b}pub enum Kind {{}}\nenum Private {{}}\n#[doc(hidden)]\npub trait Hidden {{}}\n"
        );
        let c = "//! A.\npub struct Internal;\n".to_owned();
        let text = [root.to_owned(), a, inner, b, c];
        let paths = ["lib.rs", "a.rs", "a/inner.rs", "b/mod.rs", "c.rs"];
        let paths = paths.map(|path| format!("crates/onetool-core/src/{path}"));
        let files: Vec<(&str, &str)> =
            paths.iter().map(String::as_str).zip(text.iter().map(String::as_str)).collect();
        findings(&files)
    };
    assert!(files(with, with, with).is_empty());
    let found = files("/// Text.\n", with, with);
    assert_eq!(
        found,
        [
            "crates/onetool-core/src/a.rs:4: the documentation of `Tool` has no example: add one, or `#[doc(hidden)]`"
        ]
    );
    assert!(files(with, "", with)[0].contains("a/inner.rs:2: the documentation of `Deep`"));
    assert!(files(with, with, "")[0].contains("b/mod.rs:2: the documentation of `Kind`"));
}
