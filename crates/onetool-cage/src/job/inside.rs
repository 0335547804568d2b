//! A job, seen from inside its process.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::cage::enter_with_files;
use crate::{Cage, Layer, isolate, memory, process};

/// What a process does: turns the bytes of a request into the bytes of an answer.
#[derive(Clone, Copy)]
pub enum Job {
    /// Only that, in a cage that is closed before a byte of the request is read.
    Pure(fn(Vec<u8>) -> Vec<u8>),
    /// And works on files in the directories that the request names, in a cage that has no others.
    Files {
        /// Finds the directories; the request is ours, not that of somebody outside.
        directories: fn(&[u8]) -> Vec<PathBuf>,
        /// Does the work.
        run: fn(Vec<u8>) -> Vec<u8>,
    },
}

/// Parsers descend by calling themselves, so they get a tall stack.
const STACK: usize = 64 << 20;
/// What the process itself needs beyond what it has when it starts: its input and output buffers, thread and allocator.
const MARGIN: u64 = 32 << 20;

/// Does one job in this process, then ends it; for the command that [`Jobs`](crate::Jobs) starts.
///
/// `arguments` is what was added to that command. Must be called from the main thread before any other thread exists.
pub fn job_main(jobs: &[(&str, Job)], arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match serve(jobs, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The one reader of this is the process that started the job.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(jobs: &[(&str, Job)], arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let mut arguments = arguments.into_iter().filter_map(|argument| argument.into_string().ok());
    let name = arguments.next().unwrap_or_default();
    let mut number = || arguments.next().and_then(|it| it.parse::<u64>().ok());
    let (Some(memory_bytes), Some(seconds)) = (number(), number()) else {
        return Err(io::Error::other("usage: JOB MEMORY_BYTES SECONDS"));
    };
    let Some((_, job)) = jobs.iter().find(|(it, _)| *it == name) else {
        return Err(io::Error::other(format!("there is no job '{name}'")));
    };
    prepare(seconds)?;
    let address_space = |more: u64| -> io::Result<u64> {
        Ok(process::address_space()?.saturating_add(STACK as u64 + MARGIN).saturating_add(more))
    };
    let (job, input) = match job {
        Job::Pure(job) => {
            let namespaces: Layer = isolate()?;
            let address_space = address_space(memory_bytes)?;
            Cage::enter(namespaces)?.close(address_space)?;
            (job, read_input()?)
        }
        Job::Files { directories, run } => {
            let input = read_input()?;
            enter_with_files(&directories(&input), address_space(memory_bytes)?)?;
            (run, input)
        }
    };
    let work = || catch_unwind(AssertUnwindSafe(|| job(input)));
    let output = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().and_then(|it| it).map_err(|_| io::Error::other("the job panicked"))
    })?;
    let mut stdout = io::stdout();
    stdout.write_all(&output)?;
    stdout.flush()
}

fn read_input() -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    Ok(input)
}

/// Does what every job needs before its cage is closed.
fn prepare(seconds: u64) -> io::Result<()> {
    process::close_descriptors_from(3)?;
    memory::be_first_to_go();
    process::use_one_arena();
    let limit = Rlimit { current: Some(seconds), maximum: Some(seconds) };
    // Should the gateway be killed, the job still ends.
    setrlimit(Resource::Cpu, limit).map_err(io::Error::from)
}
