//! `cargo xtask codegen`: writes or checks the files that are generated from the sources, the binary and tests.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::cargo::{self, Profile, root};
use xtask::process;

use crate::architecture::{Architecture, Generated};
use crate::{config_page, python_page, sources};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Fail if a file would change; write nothing
    #[arg(long)]
    check: bool,
    /// Only the files that need no build: the drawings and the Python reference
    #[arg(long)]
    no_build: bool,
}

/// The committed files and the arguments of `onetool` that print them.
const PRINTED: [(&str, &[&str]); 2] =
    [("onetool.schema.json", &["schema"]), ("docs/cli.md", &["__cli-reference"])];
const COVERAGE: &str = "crates/onetool-sandbox/tests/coverage.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

pub(crate) fn check() -> Result<()> {
    run(&Options { check: true, no_build: false })
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut stale = if options.check { check_drawings()? } else { compare(drawings()?, options)? };
    stale.extend(compare(vec![python_page()?], options)?);
    if !options.no_build {
        stale.extend(compare(printed()?, options)?);
    }
    if !stale.is_empty() {
        bail!("out of date; run `cargo xtask codegen`:\n{}", stale.join("\n"));
    }
    Ok(())
}

fn drawings() -> Result<Vec<Generated>> {
    let architecture = Architecture::read(&cargo::metadata()?, &sources::read_all()?)?;
    let page = fs::read_to_string(root().join(ARCHITECTURE)).context(ARCHITECTURE)?;
    architecture.generate(&page)
}

fn python_page() -> Result<Generated> {
    let coverage = fs::read_to_string(root().join(COVERAGE)).context(COVERAGE)?;
    let text = python_page::page(&coverage).context(COVERAGE)?;
    Ok(Generated { path: "docs/python.md".to_owned(), text })
}

/// Returns the files that the debug binary prints, and the pages with tables from the schema.
fn printed() -> Result<Vec<Generated>> {
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let print = |(path, arguments): &(&str, &[&str])| {
        let text = process::output(Command::new(&onetool).args(*arguments))?;
        anyhow::Ok(Generated { path: (*path).to_owned(), text })
    };
    let mut files = PRINTED.iter().map(print).collect::<Result<Vec<_>>>()?;
    let [schema, ..] = &files[..] else { bail!("nothing was printed") };
    let pages = config_page::pages(&schema.text, |page| {
        fs::read_to_string(root().join(page)).with_context(|| format!("cannot read {page}"))
    })?;
    files.extend(pages.into_iter().map(|(path, text)| Generated { path: path.to_owned(), text }));
    Ok(files)
}

/// Returns what changed since the drawings were made.
fn check_drawings() -> Result<Vec<String>> {
    let files = sources::read_all()?;
    let findings = Architecture::read(&cargo::metadata()?, &files)?.check_drawings(&files);
    Ok(findings.iter().map(ToString::to_string).collect())
}

/// Writes the files that differ, or returns them.
fn compare(generated: Vec<Generated>, options: &Options) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for Generated { path, text } in generated {
        let file = root().join(&path);
        // A missing file differs from every text.
        if fs::read_to_string(&file).is_ok_and(|found| found == text) {
            println!("{path}: up to date");
            continue;
        }
        if options.check {
            stale.push(path);
        } else {
            fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: written");
        }
    }
    Ok(stale)
}
