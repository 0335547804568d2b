//! Worker processes, in which code runs and documents are parsed: the gateway's own program, started again.

use std::ffi::OsString;
use std::process::ExitCode;

use onetool_cage::{Job, WorkerCommand, job_main};

/// The argument that makes a worker run Python.
const PYTHON: &str = "python";
/// The argument that makes a worker parse a document.
const DOCUMENT: &str = "document";

const OPENAPI_JOB: (&str, Job) = (onetool_openapi::JOB, Job::Pure(onetool_openapi::read_description));

/// Runs a worker process. Call this from the command in [`GatewayOptions::worker`](crate::GatewayOptions::worker).
///
/// `arguments` are those that the gateway appended to the command. Call this from the main thread, before the program
/// starts any other thread.
pub fn worker_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let kind = arguments.next().unwrap_or_default();
    #[cfg(feature = "python")]
    if kind == PYTHON {
        return onetool_sandbox::zygote_main();
    }
    if kind == DOCUMENT {
        job_main(&[&[OPENAPI_JOB], onetool_packs::JOBS].concat(), arguments)
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the command of the process that Python workers are forked from.
pub(crate) fn python(worker: &WorkerCommand) -> WorkerCommand {
    with_argument(worker, PYTHON)
}

/// Returns the command of a process that parses a document.
pub(crate) fn document(worker: &WorkerCommand) -> WorkerCommand {
    with_argument(worker, DOCUMENT)
}

fn with_argument(worker: &WorkerCommand, argument: &str) -> WorkerCommand {
    let mut worker = worker.clone();
    worker.args.push(argument.into());
    worker
}
