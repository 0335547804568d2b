//! Rules about one source file or manifest: header, length, lints, and where rmcp may be used.

use crate::finding::Finding;
use crate::sources::File;

const MAX_LINES: usize = 1000;

/// The only code that may use rmcp's types (docs/decisions/0003), and the benchmarks, which compare with it.
const RMCP_USERS: [&str; 4] = [
    "crates/onetool-server/src/mcp/",
    "crates/onetool-proxy/",
    "crates/onetool-testkit/",
    "crates/onetool-bench/",
];

pub(super) fn check_header(file: &File, findings: &mut Vec<Finding>) {
    let first = file.text.lines().next().unwrap_or_default();
    if !first.starts_with("//! ") {
        findings.push(Finding::new(
            &file.path,
            1,
            "the first line is not a `//!` comment: add a sentence that says what the file contains",
        ));
    }
}

pub(super) fn check_length(file: &File, findings: &mut Vec<Finding>) {
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        findings.push(Finding::new(
            &file.path,
            MAX_LINES + 1,
            format!("{lines} lines, the limit is {MAX_LINES}: split the file"),
        ));
    }
}

pub(super) fn check_manifest(file: &File, findings: &mut Vec<Finding>) {
    let has = |section: &str| file.text.lines().any(|line| line.trim() == section);
    // The fuzz targets are a separate workspace without shared lints.
    if !has("[package]") || has("[workspace]") {
        return;
    }
    let mut section = "";
    for line in file.text.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        }
        let joined: String = line.split_whitespace().collect();
        if (section == "[lints]" && joined == "workspace=true") || joined == "lints.workspace=true" {
            return;
        }
    }
    findings.push(Finding::new(
        &file.path,
        file.text.lines().count().max(1),
        "the workspace's lints are not enabled: add `[lints]` with `workspace = true`",
    ));
}

pub(super) fn check_rmcp(file: &File, findings: &mut Vec<Finding>) {
    if RMCP_USERS.iter().any(|user| file.path.starts_with(user)) {
        return;
    }
    for (index, line) in file.text.lines().enumerate() {
        if names_rmcp(line) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                format!(
                    "rmcp is used here: use our own type, or move the code to one of {}",
                    RMCP_USERS[..3].join(", ")
                ),
            ));
        }
    }
}

/// Returns whether the code on a line names the crate. Comments, and strings such as a log filter, may.
fn names_rmcp(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("rmcp").any(|(at, name)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let whole = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let imported = before.ends_with("use ") || before.ends_with("crate ");
        whole && (after.starts_with("::") || imported && after.starts_with([';', ' ']))
    })
}
