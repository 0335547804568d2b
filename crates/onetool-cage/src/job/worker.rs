//! The worker side of jobs: cages the process and runs one job.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::cage::enter_with_files;
use crate::{Cage, Layer, isolate, memory, process};

/// A function from input bytes to output bytes that runs in a caged process.
#[derive(Clone, Copy)]
pub enum Job {
    /// Computes only. The cage is closed before any input is read.
    Pure(fn(Vec<u8>) -> Vec<u8>),
    /// Also accesses files in the directories that the input names; the cage allows no others.
    Files {
        /// Returns the directories. The gateway writes the input, so it is trusted.
        directories: fn(&[u8]) -> Vec<PathBuf>,
        /// Runs the job.
        run: fn(Vec<u8>) -> Vec<u8>,
    },
}

/// Stack size of the job's thread, large because parsers are recursive.
const STACK: usize = 64 << 20;
/// Memory that the process itself needs after startup: input and output buffers, thread and allocator.
const MARGIN: u64 = 32 << 20;

/// Runs one job in this process and returns its exit code; for the command that [`Jobs`](crate::Jobs) starts.
///
/// `arguments` are the arguments appended to that command. Call it from the main thread before starting any other.
pub fn job_main(jobs: &[(&str, Job)], arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match serve(jobs, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Only the process that started the job reads this.
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
        return Err(io::Error::other(format!("unknown job '{name}'")));
    };
    prepare(seconds)?;
    let address_space = |memory_bytes: u64| -> io::Result<u64> {
        Ok(process::address_space()?.saturating_add(STACK as u64 + MARGIN).saturating_add(memory_bytes))
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

/// Prepares the process before its cage is closed.
fn prepare(seconds: u64) -> io::Result<()> {
    process::close_descriptors_from(3)?;
    memory::raise_oom_score();
    process::use_single_malloc_arena();
    let limit = Rlimit { current: Some(seconds), maximum: Some(seconds) };
    // Ends the job even if the gateway is killed.
    setrlimit(Resource::Cpu, limit).map_err(io::Error::from)
}
