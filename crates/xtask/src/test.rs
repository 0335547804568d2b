//! `cargo xtask test`: installs what is missing, then ci, the conformance suite, the outside client and the browser.

use anyhow::Result;

use crate::ci::{self, Step};
use crate::{browser, conformance, outside, tools};

pub(crate) fn run() -> Result<()> {
    let mut steps = vec![Step::new("install", "cargo xtask install", tools::install_all)];
    steps.extend(ci::steps());
    steps.push(Step::new("conformance", "cargo xtask conformance", || conformance::run(true)));
    steps.push(Step::new("outside", "cargo xtask outside", outside::run));
    steps.push(Step::new("browser", "cargo xtask browser", || browser::run(None)));
    ci::run_steps(steps)
}
