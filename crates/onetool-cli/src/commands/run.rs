//! `onetool run`: runs code from the command line, a file, stdin, or an interactive session.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use onetool::{CallContext, Gateway, JsonObject};
use tokio::runtime::Runtime;

use super::sources;
use crate::arguments::Run;
use crate::error::CliError;
use crate::output;

const PROMPT: &str = ">>> ";
const CONTINUATION_PROMPT: &str = "... ";

pub(crate) fn run(gateway: &Gateway, args: &Run) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(sources::connect(gateway));
    let code = match (&args.code, &args.file) {
        (Some(code), _) if code != "-" => code.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| CliError::failed(format!("cannot read '{}': {error}", file.display())))?,
        (None, None) if io::stdin().is_terminal() => return run_interactively(&runtime, gateway),
        _ => {
            let mut code = String::new();
            io::stdin().lock().read_to_string(&mut code)?;
            code
        }
    };
    let succeeded = execute(&runtime, gateway, &code)?;
    runtime.block_on(gateway.close());
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Runs a command and prints its result; returns whether it succeeded.
fn execute(runtime: &Runtime, gateway: &Gateway, command: &str) -> Result<bool, CliError> {
    let mut arguments = JsonObject::new();
    arguments.insert("command".into(), command.into());
    let called = runtime.block_on(gateway.server().call("run", arguments, CallContext::detached()));
    let result = called.map_err(|error| CliError::failed(error.to_string()))?;
    let text: Vec<&str> = result.content.iter().filter_map(|block| block.as_text()).collect();
    if result.is_error {
        output::note(&text.join("\n"));
    } else {
        output::print(&text.join("\n"))?;
    }
    Ok(!result.is_error)
}

/// Reads and runs code until the end of input. An empty line ends a block; each input is a separate run.
fn run_interactively(runtime: &Runtime, gateway: &Gateway) -> Result<ExitCode, CliError> {
    output::note(
        "Python that can call every tool. Each input is a separate run. ot.help() shows help, Ctrl-D exits.",
    );
    let mut lines = io::stdin().lock().lines();
    loop {
        let mut code = String::new();
        loop {
            write!(io::stderr(), "{}", if code.is_empty() { PROMPT } else { CONTINUATION_PROMPT })?;
            io::stderr().flush()?;
            let Some(line) = lines.next().transpose()? else {
                runtime.block_on(gateway.close());
                return Ok(ExitCode::SUCCESS);
            };
            let continues = line.trim_end().ends_with(':') || (!code.is_empty() && !line.trim().is_empty());
            code.push_str(&line);
            code.push('\n');
            if !continues {
                break;
            }
        }
        if !code.trim().is_empty() {
            execute(runtime, gateway, &code)?;
        }
    }
}
