//! `cargo xtask upstreams`: the official TypeScript client calls real servers through the gateway and directly, compares
//! the results, and reads the tools made from real API descriptions.

use std::process::Command;

use anyhow::Result;
use xtask::cargo::{self, Profile};
use xtask::process;
use xtask::tools::{self, Upstreams};

pub(crate) fn run() -> Result<()> {
    tools::require_programs()?;
    tools::chromium()?;
    let upstreams = tools::upstreams()?;
    let descriptions = tools::api_descriptions()?;
    cargo::build_debug()?;

    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    for (title, name) in [("real servers", "servers"), ("results through the gateway", "transit")] {
        println!("--- {title}");
        let mut checks = script(&upstreams, &format!("{name}.mjs"));
        checks.arg(&onetool).arg(&upstreams.packages).arg(tools::scratch(&format!("upstreams-{name}"))?);
        process::run(checks.args(&upstreams.programs))?;
    }

    println!("--- tools of real API descriptions");
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
