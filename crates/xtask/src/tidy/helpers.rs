//! A rule about duplicate helpers: what `onetool-core` does once is not written again elsewhere.

use crate::finding::Finding;
use crate::sources::File;

/// What only a helper contains, the files with it, and what to use instead.
///
/// `onetool-cage` is a boundary that uses no other crate, so it has its own.
const HELPERS: &[(&str, &[&str], &str)] = &[
    (
        "PoisonError",
        &["crates/onetool-core/src/sync.rs", "crates/onetool-cage/"],
        "use `onetool_core::sync::Unpoisoned`",
    ),
    ("strsim::", &["crates/onetool-core/src/similar.rs"], "use `onetool_core::similar_names`"),
    (
        ": {cause}",
        &["crates/onetool-core/src/error_chain.rs"],
        "use `onetool_core::error_chain` to show an error with its sources",
    ),
    ("vars_os()", &["crates/onetool-cli/src/"], "use `onetool_core::ChildEnvironment` for child processes"),
    (
        ".read_until(b'\\n'",
        &["crates/onetool-core/src/lines.rs"],
        "use `onetool_core::lines`, which limits the length of a line",
    ),
];

pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    let is_checked = |file: &&File| {
        let is_tool =
            file.path.starts_with("crates/onetool-bench/") || file.path.starts_with("crates/xtask/");
        file.has_extension("rs")
            && file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && !is_tool
    };
    for file in files.iter().filter(is_checked) {
        for (needle, allowed, advice) in HELPERS {
            if allowed.iter().any(|prefix| file.path.starts_with(prefix)) {
                continue;
            }
            for (index, line) in file.text.lines().enumerate().filter(|(_, line)| line.contains(needle)) {
                let is_comment = line.trim_start().starts_with("//");
                if !is_comment {
                    findings.push(Finding::new(&file.path, index + 1, format!("`{needle}`: {advice}")));
                }
            }
        }
    }
}
