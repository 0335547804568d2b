//! The `onetool` command.

mod arguments;
mod commands;
mod config_reader;
mod environment;
mod error;
mod logging;
mod output;
mod token;
mod trust;

fn main() -> std::process::ExitCode {
    commands::run(environment::Environment::from_process())
}
