//! A rule about SECURITY.md: every test it names exists.

use std::collections::BTreeSet;

use super::{File, Finding, has_extension};

const PAGE: &str = "SECURITY.md";

/// Names of tests are sentences; keys of the configuration, which are code spans too, have fewer underscores.
const UNDERSCORES: usize = 4;

pub(super) fn is_checked(path: &str) -> bool {
    path == PAGE
}

pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return };
    let sources = files.iter().filter(|file| has_extension(&file.path, "rs"));
    let functions: BTreeSet<&str> = sources.flat_map(|file| functions(&file.text)).collect();
    for (index, line) in page.text.lines().enumerate() {
        // Between backticks is every second part.
        for name in line.split('`').skip(1).step_by(2).filter(|span| is_test_name(span)) {
            if !functions.contains(name) {
                let message =
                    format!("there is no test `{name}`: name the test that shows this, or write 'no test'");
                findings.push(Finding::new(PAGE, index + 1, message));
            }
        }
    }
}

fn is_test_name(span: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    span.chars().all(is_part) && span.matches('_').count() >= UNDERSCORES
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, after) = line.split_once("fn ")?;
        after.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}
