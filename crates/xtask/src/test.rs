//! `cargo xtask test`: installs what is missing, then runs every check and test.

use anyhow::Result;
use xtask::tools;

use crate::steps::{self, Skip, Step};
use crate::{bench, browser, ci, clients, conformance, directory, docs, fuzz, upstreams, web};

/// The steps that open a browser.
const NEED_CHROMIUM: [&str; 2] = ["upstreams", "browser"];

pub(crate) fn run(skip: &Skip) -> Result<()> {
    let needs_chromium = NEED_CHROMIUM.iter().any(|step| !skip.contains(step));
    // First, because a missing program should not surface after an hour of tests.
    let mut steps = vec![Step::new("install", "cargo xtask install", move || install(needs_chromium))];
    steps.extend(ci::steps());
    steps.push(Step::new("fuzz", "cargo xtask fuzz --seconds 5 --seed 1", fuzz::run_briefly));
    steps.push(Step::new("hostile", "cargo xtask bench hostile", || bench::run(&["hostile"])));
    steps.push(Step::new("docs", "cargo xtask docs", docs::check));
    steps.push(Step::new("conformance", "cargo xtask conformance", || conformance::run(true)));
    steps.push(Step::new("clients", "cargo xtask clients", || clients::run(None)));
    steps.push(Step::new("upstreams", "cargo xtask upstreams", upstreams::run));
    steps.push(Step::new("directory", "cargo xtask directory", || directory::run(directory::Table::Check)));
    steps.push(Step::new("web", "cargo xtask web", || web::run(web::Format::Check)));
    steps.push(Step::new("browser", "cargo xtask browser", || browser::run(None)));
    steps::run(steps, skip)
}

fn install(chromium: bool) -> Result<()> {
    tools::install_all()?;
    if chromium { tools::chromium() } else { Ok(()) }
}
