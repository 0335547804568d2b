//! `cargo xtask tidy`: the habits that no compiler checks, each finding with file, line and fix.

mod language;
mod requirements;
mod security;
mod source;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cargo::root;
use requirements::Requirements;

const PENDING: &str = "docs/requirements-pending.txt";

/// A text file of the workspace, with its path from the root.
struct File {
    path: String,
    text: String,
}

/// Something to put right.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

pub(crate) fn run() -> Result<()> {
    let mut files = Vec::new();
    collect(root(), "", &mut files)?;
    let mut findings = check(&files);
    if findings.is_empty() {
        println!("tidy: {} files are in order", files.len());
        return Ok(());
    }
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    bail!("tidy found {} things to put right", findings.len())
}

/// Applies every rule to the files.
fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut requirements = Requirements::default();
    for file in files {
        if file.path.starts_with("docs/requirements/") {
            requirements.read_page(file, &mut findings);
        }
    }
    if let Some(pending) = files.iter().find(|file| file.path == PENDING) {
        requirements.read_pending(pending, &mut findings);
    }
    for file in files {
        if language::is_checked(&file.path) {
            language::check(file, &mut findings);
        }
        if file.path.ends_with("Cargo.toml") {
            source::check_manifest(file, &mut findings);
        } else if has_extension(&file.path, "rs") {
            source::check_header(file, &mut findings);
            source::check_length(file, &mut findings);
            source::check_rooms(file, &mut findings);
            // These tests hold made-up ids.
            if !file.path.starts_with("crates/xtask/src/tidy/") {
                requirements.read_tests(file, &mut findings);
            }
        }
    }
    requirements.check_coverage(&mut findings);
    security::check(files, &mut findings);
    findings
}

/// Reads the files that rules look at.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() && is_checked(&path) {
            let text = fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

fn is_checked(path: &str) -> bool {
    has_extension(path, "rs")
        || path.ends_with("Cargo.toml")
        || path == PENDING
        || (path.starts_with("docs/requirements/") && has_extension(path, "md"))
        || language::is_checked(path)
        || security::is_checked(path)
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}
