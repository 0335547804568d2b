//! The steps of a longer run: each with its time, the first failure with the command that reruns it.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use xtask::cargo::cargo;
use xtask::process;

/// Steps to skip.
#[derive(clap::Args, Default)]
pub(crate) struct Skip {
    /// Skip this step; may be repeated
    #[arg(long = "skip", value_name = "STEP")]
    names: Vec<String>,
}

impl Skip {
    pub(crate) fn contains(&self, step: &str) -> bool {
        self.names.iter().any(|name| name == step)
    }
}

/// A named part of a longer run.
pub(crate) struct Step {
    name: &'static str,
    /// The command that runs only this step.
    rerun: String,
    action: Box<dyn FnOnce() -> Result<()>>,
}

impl Step {
    pub(crate) fn new(
        name: &'static str,
        rerun: impl Into<String>,
        action: impl FnOnce() -> Result<()> + 'static,
    ) -> Self {
        Self { name, rerun: rerun.into(), action: Box::new(action) }
    }

    /// Returns a step that runs one cargo command.
    pub(crate) fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self::new(name, format!("cargo {}", arguments.join(" ")), move || process::run(&mut cargo(arguments)))
    }
}

/// Runs the steps in order, stops at the first that fails, and prints a summary with everything that was skipped.
pub(crate) fn run(steps: Vec<Step>, skip: &Skip) -> Result<()> {
    let known: Vec<&str> = steps.iter().map(|step| step.name).collect();
    if let Some(unknown) = skip.names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("unknown step '{unknown}'; the steps are: {}", known.join(", "));
    }
    let mut summary = Vec::new();
    for step in steps {
        if skip.contains(step.name) {
            println!("==> {} SKIPPED", step.name);
            summary.push(format!("{:<14}   SKIPPED", step.name));
            continue;
        }
        println!("==> {}", step.name);
        let start = Instant::now();
        let result = (step.action)();
        let seconds = start.elapsed().as_secs_f64();
        result.with_context(|| {
            format!("step `{}` failed after {seconds:.1} s; rerun it with `{}`", step.name, step.rerun)
        })?;
        println!("<== {} in {seconds:.1} s", step.name);
        summary.push(format!("{:<14}{seconds:>8.1} s", step.name));
    }
    println!("\n{}", summary.join("\n"));
    if !skip.names.is_empty() {
        println!("\nWARNING: skipped on request, not checked: {}", skip.names.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use anyhow::ensure;

    use super::*;

    fn steps(log: &Rc<RefCell<Vec<&'static str>>>) -> Vec<Step> {
        let step = |name, fails: bool| {
            let log = log.clone();
            Step::new(name, format!("cargo xtask {name}"), move || {
                log.borrow_mut().push(name);
                ensure!(!fails, "broken");
                Ok(())
            })
        };
        vec![step("one", false), step("two", true), step("three", false)]
    }

    #[test]
    fn stops_at_the_first_failure_and_names_the_rerun_command() {
        let log = Rc::default();
        let error = format!("{:#}", run(steps(&log), &Skip::default()).unwrap_err());
        assert!(error.contains("`two`") && error.contains("`cargo xtask two`") && error.contains("broken"));
        assert_eq!(*log.borrow(), ["one", "two"]);
    }

    #[test]
    fn str_11_skips_only_steps_that_exist() {
        let log = Rc::default();
        run(steps(&log), &Skip { names: vec!["two".to_owned()] }).unwrap();
        assert_eq!(*log.borrow(), ["one", "three"]);
        let error = run(steps(&log), &Skip { names: vec!["tow".to_owned()] }).unwrap_err();
        assert_eq!(error.to_string(), "unknown step 'tow'; the steps are: one, two, three");
    }
}
