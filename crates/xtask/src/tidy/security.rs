//! A rule about SECURITY.md: every test it names exists.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::sources::File;

const PAGE: &str = "SECURITY.md";

/// Test names are sentences. Configuration keys, which are code spans too, have fewer underscores.
const MIN_UNDERSCORES: usize = 4;

pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return };
    let sources = files.iter().filter(|file| file.has_extension("rs"));
    let functions: BTreeSet<&str> = sources.flat_map(|file| functions(&file.text)).collect();
    for (index, line) in page.text.lines().enumerate() {
        // Every second part is between backticks.
        for name in line.split('`').skip(1).step_by(2).filter(|span| is_test_name(span)) {
            if !functions.contains(name) {
                let message =
                    format!("there is no test `{name}`: name the test that covers this, or write 'no test'");
                findings.push(Finding::new(PAGE, index + 1, message));
            }
        }
    }
}

fn is_test_name(span: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    span.chars().all(is_part) && span.matches('_').count() >= MIN_UNDERSCORES
}

/// Returns the names of all functions in a source file.
pub(super) fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, after) = line.split_once("fn ")?;
        after.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}
