//! The processes in which code runs and documents are read: the program around the gateway, started once more.

use std::ffi::OsString;
use std::process::ExitCode;

use onetool_cage::{Job, WorkerCommand, job_main};

/// What follows the worker command where Python is to run.
const PYTHON: &str = "python";
/// What follows the worker command where a document is to be read.
const DOCUMENT: &str = "document";

const OPENAPI_JOB: (&str, Job) = (onetool_openapi::JOB, Job::Pure(onetool_openapi::read_description));

/// Runs a worker process; for the command that [`GatewayOptions::worker`](crate::GatewayOptions::worker) names.
///
/// `arguments` is what the gateway added to that command. Must be called from the main thread before the program starts
/// any other thread.
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

/// Returns the command whose process Python is forked from.
pub(crate) fn python(worker: &WorkerCommand) -> WorkerCommand {
    with_argument(worker, PYTHON)
}

/// Returns the command whose process reads a document.
pub(crate) fn document(worker: &WorkerCommand) -> WorkerCommand {
    with_argument(worker, DOCUMENT)
}

fn with_argument(worker: &WorkerCommand, argument: &str) -> WorkerCommand {
    let mut worker = worker.clone();
    worker.args.push(argument.into());
    worker
}
