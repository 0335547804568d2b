//! Rules about one source file or manifest: header, length, lints, and who may name rmcp.

use super::{File, Finding};

const LONGEST: usize = 1000;

/// Where rmcp may be named (design: only these rooms know its types); benches compare with it.
const RMCP_ROOMS: [&str; 4] =
    ["crates/onetool-server/src/mcp/", "crates/onetool-proxy/", "crates/onetool-testkit/", "crates/xtask/"];

pub(super) fn check_header(file: &File, findings: &mut Vec<Finding>) {
    let first = file.text.lines().next().unwrap_or_default();
    if !first.starts_with("//! ") {
        findings.push(Finding::new(
            &file.path,
            1,
            "the first line is no `//!` comment: add one sentence that says what lives here",
        ));
    }
}

pub(super) fn check_length(file: &File, findings: &mut Vec<Finding>) {
    let lines = file.text.lines().count();
    if lines > LONGEST {
        findings.push(Finding::new(
            &file.path,
            LONGEST + 1,
            format!("{lines} lines, {LONGEST} at most: split the file"),
        ));
    }
}

pub(super) fn check_manifest(file: &File, findings: &mut Vec<Finding>) {
    let has = |section: &str| file.text.lines().any(|line| line.trim() == section);
    // The fuzz targets are a workspace of their own, which has no lints to share.
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
        "the workspace's lints do not apply here: add `[lints]` with `workspace = true`",
    ));
}

pub(super) fn check_rooms(file: &File, findings: &mut Vec<Finding>) {
    if RMCP_ROOMS.iter().any(|room| file.path.starts_with(room)) || file.path.contains("/benches/") {
        return;
    }
    for (index, line) in file.text.lines().enumerate() {
        if names_rmcp(line) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                format!(
                    "rmcp is named outside its rooms: use our own type, or move the code to one of {}",
                    RMCP_ROOMS[..3].join(", ")
                ),
            ));
        }
    }
}

/// Tells whether code on the line names the crate; comments and strings such as a log filter may.
fn names_rmcp(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("rmcp").any(|(at, name)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let whole = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let imported = before.ends_with("use ") || before.ends_with("crate ");
        whole && (after.starts_with("::") || imported && after.starts_with([';', ' ']))
    })
}
