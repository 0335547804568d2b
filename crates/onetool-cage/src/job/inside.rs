//! A job, seen from inside its process.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{Cage, Layer, isolate, memory, process};

/// Turns the bytes of a document into the bytes of an answer.
pub type Job = fn(Vec<u8>) -> Vec<u8>;

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
    shut_in(memory_bytes, seconds)?;
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    let work = || catch_unwind(AssertUnwindSafe(|| job(input)));
    let output = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().and_then(|it| it).map_err(|_| io::Error::other("the job panicked"))
    })?;
    let mut stdout = io::stdout();
    stdout.write_all(&output)?;
    stdout.flush()
}

/// Enters and closes the cage, before a byte of the document is read.
fn shut_in(memory_bytes: u64, seconds: u64) -> io::Result<()> {
    process::close_descriptors_from(3)?;
    memory::be_first_to_go();
    process::use_one_arena();
    let namespaces: Layer = isolate()?;
    let limit = Rlimit { current: Some(seconds), maximum: Some(seconds) };
    // Should the gateway be killed, the job still ends.
    setrlimit(Resource::Cpu, limit)?;
    let address_space = process::address_space()?.saturating_add(STACK as u64 + MARGIN);
    Cage::enter(namespaces)?.close(address_space.saturating_add(memory_bytes)).map(drop)
}
