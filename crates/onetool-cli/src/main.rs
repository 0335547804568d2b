//! The `onetool` command.

mod arguments;
mod commands;
mod environment;
mod error;
mod logging;
mod output;
mod token;

fn main() -> std::process::ExitCode {
    commands::run(environment::Environment::of_process())
}
