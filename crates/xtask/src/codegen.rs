//! `cargo xtask codegen`: writes or checks the files that are generated from the binary and from tests.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, Profile};
use crate::{process, python_page};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// The committed files and the arguments of `onetool` that print them.
const PRINTED: [(&str, &[&str]); 2] =
    [("onetool.schema.json", &["schema"]), ("docs/cli.md", &["__cli-reference"])];
const COVERAGE: &str = "crates/onetool-sandbox/tests/coverage.md";

pub(crate) fn run(mode: Mode) -> Result<()> {
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let mut generated = Vec::new();
    for (file, arguments) in PRINTED {
        generated.push((file, process::output(Command::new(&onetool).args(arguments))?));
    }
    let coverage = fs::read_to_string(cargo::root().join(COVERAGE)).context(COVERAGE)?;
    generated.push(("docs/python.md", python_page::page(&coverage).context(COVERAGE)?));
    let mut stale = Vec::new();
    for (file, wanted) in generated {
        let path = cargo::root().join(file);
        // A missing file differs from everything.
        let found = fs::read_to_string(&path).ok();
        if found.as_deref() == Some(wanted.as_str()) {
            println!("{file}: as generated");
            continue;
        }
        match mode {
            Mode::Check => stale.push(file),
            Mode::Write => {
                fs::write(&path, wanted).with_context(|| format!("cannot write {}", path.display()))?;
                println!("{file}: written");
            }
        }
    }
    if !stale.is_empty() {
        bail!("{} changed: run `cargo xtask codegen`", stale.join(", "));
    }
    Ok(())
}
