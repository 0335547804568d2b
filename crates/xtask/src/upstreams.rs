//! `cargo xtask upstreams`: the official TypeScript client drives the gateway in front of real servers, compares what
//! comes through with what they answer themselves, and reads the lists that real API descriptions become.

use std::process::Command;

use anyhow::Result;

use crate::cargo::{self, Profile};
use crate::process;
use crate::tools::{self, Upstreams};

pub(crate) fn run() -> Result<()> {
    tools::require_programs()?;
    tools::chromium()?;
    let upstreams = tools::upstreams()?;
    let descriptions = tools::api_descriptions()?;
    cargo::build_debug()?;

    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    for (title, name) in [("real servers", "servers"), ("nothing is lost in transit", "transit")] {
        println!("--- {title}");
        let mut checks = script(&upstreams, &format!("{name}.mjs"));
        checks.arg(&onetool).arg(&upstreams.packages).arg(tools::scratch(&format!("upstreams-{name}"))?);
        process::run(checks.args(&upstreams.programs))?;
    }

    println!("--- lists of real API descriptions");
    let server = cargo::binary(Profile::Debug, "examples/openapi")?;
    let mut lists = script(&upstreams, "lists.mjs");
    lists.arg(&server).arg(&upstreams.packages).arg(&descriptions);
    process::run(lists.arg(tools::scratch("lists")?))
}

fn script(upstreams: &Upstreams, name: &str) -> Command {
    let mut command = Command::new(&upstreams.node);
    command.arg(cargo::root().join("tests/upstreams").join(name));
    command
}
