//! A file per command.

mod call;
mod check;
mod describe;
mod find;
mod import;
mod init;
mod jsonc;
mod reference;
mod run;
mod serve;
mod sources;
mod stats;
mod tools;
mod trust;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser as _};
use onetool::config::Config;
use onetool::{Gateway, GatewayOptions};

use crate::arguments::{Arguments, Command, Serve};
use crate::config_reader::ConfigReader;
use crate::environment::{self, Environment};
use crate::error::CliError;
use crate::logging::{self, LogOptions};
use crate::output::{self, note};

/// Runs what was typed and returns the exit code: 0 fine, 1 the operation failed, 2 usage.
pub(crate) fn run(environment: Environment) -> ExitCode {
    let arguments = Arguments::parse();
    // What this program was started with is not for the programs that it starts.
    if let Err(error) = onetool::keep_inherited_descriptors() {
        note(&format!("warning: child processes may inherit open files: {error}"));
    }
    // These need neither logging nor a runtime, and must have one thread.
    match arguments.command {
        Some(Command::Worker { arguments }) => return onetool::worker_main(arguments),
        Some(Command::Guard { arguments }) => {
            return match environment::guard() {
                Some(own) => onetool::guard_main(&own, arguments),
                None => ExitCode::FAILURE,
            };
        }
        _ => {}
    }
    let serves = matches!(arguments.command, None | Some(Command::Serve(_)));
    // A command that ends says itself which source cannot be used; the log would only say it again.
    let default = if serves { "info" } else { "error,onetool_proxy=off" };
    logging::start(&LogOptions {
        filter: environment.log_filter.as_deref(),
        default,
        format: environment.log_format.as_deref(),
        includes_notes: serves,
    });
    match dispatch(&environment, arguments) {
        Ok(code) => code,
        Err(error) => {
            error.report();
            error.exit_code()
        }
    }
}

fn dispatch(environment: &Environment, arguments: Arguments) -> Result<ExitCode, CliError> {
    let config = arguments.config.as_deref();
    let reader = ConfigReader::new(environment, config, arguments.trust);
    let gateway = || -> Result<Gateway, CliError> {
        let loaded = reader.load_trusted()?;
        let options = gateway_options(&reader, &loaded);
        Ok(Gateway::new(loaded, options)?)
    };
    match arguments.command.unwrap_or(Command::Serve(Serve::default())) {
        Command::Serve(asked) => serve::run(&reader, asked)?,
        Command::Tools(asked) => {
            let gateway = gateway()?;
            sources::with_all(&gateway, || tools::run(&gateway, &asked))?;
        }
        Command::Describe(asked) => {
            let gateway = gateway()?;
            sources::with_all(&gateway, || describe::run(&gateway, &asked))?;
        }
        Command::Find(asked) => {
            let gateway = gateway()?;
            sources::with_all(&gateway, || find::run(&gateway, &asked))?;
        }
        Command::Call(asked) => return call::run(&gateway()?, &asked),
        Command::Run(asked) => return run::run(&gateway()?, &asked),
        Command::Stats(asked) => return stats::run(&gateway()?, &asked),
        // Served before anything else, in `run`.
        Command::Guard { .. } | Command::Worker { .. } => return Ok(ExitCode::FAILURE),
        Command::Check(asked) => return check::run(&reader, &asked),
        Command::Init => init::run(environment)?,
        Command::Trust(asked) => trust::run(environment, &asked)?,
        Command::Import(asked) => import::run(environment, config, &asked)?,
        Command::Schema => output::print_json(&onetool::config::json_schema())?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "onetool", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
        }
        Command::CliReference => output::print(&reference::markdown(Arguments::command()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what the gateway gets from the process around it; `ot.reload()` reads what `reader` does.
fn gateway_options(reader: &ConfigReader, config: &Config) -> GatewayOptions {
    let options = reader.environment().gateway_options(config);
    let reader = reader.clone();
    let load = move || reader.reload().map_err(|error| error.advice());
    GatewayOptions { load: Some(Arc::new(load)), ..options }
}
