//! `cargo xtask codegen`: writes or checks the files that are generated from the binary.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, Profile};
use crate::process;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// The committed file and the arguments of `onetool` that print it.
const GENERATED: [(&str, &[&str]); 2] =
    [("onetool.schema.json", &["schema"]), ("docs/cli.md", &["__cli-reference"])];

pub(crate) fn run(mode: Mode) -> Result<()> {
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let mut stale = Vec::new();
    for (file, arguments) in GENERATED {
        let wanted = process::output(Command::new(&onetool).args(arguments))?;
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
