//! `cargo xtask tidy`: the conventions that no compiler checks, each finding with file, line and fix.

mod examples;
mod helpers;
mod language;
mod requirements;
mod retries;
mod security;
mod source;
#[cfg(test)]
mod tests;

use anyhow::{Result, bail};
use xtask::cargo;

use crate::architecture::Architecture;
use crate::finding::Finding;
use crate::sources::{self, File};
use requirements::Requirements;

pub(crate) fn run() -> Result<()> {
    let files = sources::read_all()?;
    let mut findings = check(&files);
    findings.extend(language::check(&files));
    findings.extend(Architecture::read(&cargo::metadata()?, &files)?.check(&files));
    if findings.is_empty() {
        println!("tidy: checked {} files, no findings", files.len());
        return Ok(());
    }
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    let count = findings.len();
    bail!("tidy: {count} finding{}", if count == 1 { "" } else { "s" })
}

/// Applies the rules that need only the files and have no exceptions.
fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.path.ends_with("Cargo.toml") {
            source::check_manifest(file, &mut findings);
        } else if file.has_extension("rs") {
            source::check_header(file, &mut findings);
            source::check_length(file, &mut findings);
            source::check_rmcp(file, &mut findings);
        }
    }
    Requirements::check(files, &mut findings);
    retries::check(files, &mut findings);
    security::check(files, &mut findings);
    examples::check(files, &mut findings);
    helpers::check(files, &mut findings);
    findings
}
