//! The commands, one file each.

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

/// The name of the file that `onetool import` writes.
const IMPORTED_SERVERS: &str = "servers.yaml";

/// Runs the command and returns the exit code: 0 for success, 1 for failure, 2 for an invalid command line.
pub(crate) fn run(environment: Environment) -> ExitCode {
    let arguments = Arguments::parse();
    // Descriptors that this process inherited must not be passed on to the programs it starts.
    if let Err(error) = onetool::close_inherited_on_exec() {
        note(&format!("warning: child processes may inherit open files: {error}"));
    }
    // These need neither logging nor a runtime, and must be single-threaded.
    match arguments.command {
        Some(Command::Worker { arguments }) => return onetool::worker_main(arguments),
        Some(Command::Guard { arguments }) => {
            return match environment::guard() {
                Some(guard) => onetool::guard_main(&guard, arguments),
                None => ExitCode::FAILURE,
            };
        }
        _ => {}
    }
    let is_server = matches!(arguments.command, None | Some(Command::Serve(_)));
    // The other commands print unusable sources themselves; the log would repeat them.
    let default = if is_server { "info" } else { "error,onetool_proxy=off" };
    logging::start(&LogOptions {
        filter: environment.log_filter.as_deref(),
        default,
        format: environment.log_format.as_deref(),
        includes_notes: is_server,
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
        let config = reader.load_trusted()?;
        let options = gateway_options(&reader, &config);
        Ok(Gateway::new(config, options)?)
    };
    match arguments.command.unwrap_or(Command::Serve(Serve::default())) {
        Command::Serve(args) => serve::run(&reader, args)?,
        Command::Tools(args) => {
            let gateway = gateway()?;
            sources::with_connected(&gateway, || tools::run(&gateway, &args))?;
        }
        Command::Describe(args) => {
            let gateway = gateway()?;
            sources::with_connected(&gateway, || describe::run(&gateway, &args))?;
        }
        Command::Find(args) => {
            let gateway = gateway()?;
            sources::with_connected(&gateway, || find::run(&gateway, &args))?;
        }
        Command::Call(args) => return call::run(&gateway()?, &args),
        Command::Run(args) => return run::run(&gateway()?, &args),
        Command::Stats(args) => return stats::run(&gateway()?, &args),
        // Handled in `run`, before everything else.
        Command::Guard { .. } | Command::Worker { .. } => return Ok(ExitCode::FAILURE),
        Command::Check(args) => return check::run(&reader, &args),
        Command::Init => init::run(environment)?,
        Command::Trust(args) => trust::run(environment, &args)?,
        Command::Import(args) => import::run(environment, config, &args)?,
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

/// Returns the options of a gateway that reloads its configuration through `reader`.
fn gateway_options(reader: &ConfigReader, config: &Config) -> GatewayOptions {
    let mut options = reader.environment().gateway_options(config);
    let reader = reader.clone();
    let load = move || reader.reload().map_err(|error| error.message_with_hints());
    options.load = Some(Arc::new(load));
    options
}
