//! The zygote: a single-threaded process with a warm interpreter that forks a child for every run.
//!
//! It never runs user code. It exits when the gateway closes its end of the control socket, and its children exit with
//! it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getppid, kill_process, pidfd_open, waitpid,
};

use onetool_cage::process::{self, ForkResult, SingleThreaded};
use onetool_cage::{Cage, CageReport, isolate, raise_oom_score};

use crate::child;
use crate::control::{self, ForkRequest, ZygoteReport};

/// Runs the zygote until the gateway disconnects; for the hidden subcommand named in
/// [`WorkerCommand`](crate::WorkerCommand).
///
/// Call it from the main thread before starting any other. Standard input is the control socket.
pub fn zygote_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // The gateway may exit before its worker is ready, for example after a very short stdio session.
        Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the Python worker failed");
            ExitCode::FAILURE
        }
    }
}

/// A pipe with which one thread of a child wakes another.
type WakePipe = (OwnedFd, OwnedFd);

struct Zygote {
    control: OwnedFd,
    cage: Cage,
    single_threaded: SingleThreaded,
    /// The size of this process's address space, which every child starts with.
    address_space: u64,
    children: Vec<Child>,
}

struct Child {
    id: u64,
    process: Pid,
    descriptor: OwnedFd,
}

fn serve() -> io::Result<()> {
    // Programs must not get the descriptors that the gateway inherited.
    process::close_descriptors_from(3)?;
    raise_oom_score();
    let namespaces = isolate()?;
    let control = take_standard_input()?;
    process::use_single_malloc_arena();
    let interpreter = child::warm_interpreter();
    interpreter.enter(|vm| {
        let prelude = child::warm_prelude(vm).map_err(io::Error::other)?;
        let single_threaded = SingleThreaded::check()?;
        process::release_program_pages();
        process::use_huge_pages_for_heap();
        let address_space = process::address_space()?;
        let cage = Cage::enter(namespaces)?;
        let mut zygote = Zygote { control, cage, single_threaded, address_space, children: Vec::new() };
        let report = zygote.test_cage()?;
        control::send(&zygote.control, &ZygoteReport::Ready { cage: report }, &[])?;
        zygote.run(|socket, wake| child::run(vm, &prelude, socket, wake))
    })
}

/// Moves the control socket away from standard input.
fn take_standard_input() -> io::Result<OwnedFd> {
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(control)
}

impl Zygote {
    /// Closes the cage around a test child, so that a cage that cannot be closed is noticed before the first run.
    fn test_cage(&self) -> io::Result<CageReport> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        match self.single_threaded.fork()? {
            ForkResult::Child => {
                let closed = self.cage.close(self.address_space.saturating_add(16 << 20));
                let message = match closed {
                    Ok(report) => serde_json::to_vec(&Ok::<_, String>(report)),
                    Err(error) => serde_json::to_vec(&Err::<CageReport, _>(error.to_string())),
                };
                let is_sent = message.is_ok_and(|message| rustix::io::write(&writer, &message).is_ok());
                process::exit_immediately(i32::from(!is_sent));
            }
            ForkResult::Parent(child) => {
                drop(writer);
                let mut message = [0; 1024];
                let length = rustix::io::retry_on_intr(|| rustix::io::read(&reader, &mut message))?;
                waitpid(Some(child), WaitOptions::empty())?;
                serde_json::from_slice::<Result<CageReport, String>>(&message[..length])?
                    .map_err(io::Error::other)
            }
        }
    }

    /// Serves until the gateway disconnects.
    fn run(&mut self, run_child: impl Fn(OwnedFd, WakePipe)) -> io::Result<()> {
        while self.serve_once(&run_child)? {}
        // Without the gateway, the children have no purpose.
        for child in &self.children {
            // The child may already have exited.
            let _ = kill_process(child.process, Signal::KILL);
        }
        Ok(())
    }

    /// Waits for events and handles them. Returns false if the gateway disconnected.
    fn serve_once(&mut self, run_child: &impl Fn(OwnedFd, WakePipe)) -> io::Result<bool> {
        let (is_control_ready, exited) = self.wait()?;
        // Backwards, so that removing one does not move those still to be removed.
        for index in exited.into_iter().rev() {
            let child = self.children.swap_remove(index);
            let status = waitpid(Some(child.process), WaitOptions::empty())?.map(|(_, status)| status);
            let report = ZygoteReport::Exited {
                id: child.id,
                code: status.and_then(WaitStatus::exit_status),
                signal: status.and_then(WaitStatus::terminating_signal),
            };
            if control::send(&self.control, &report, &[]).is_err() {
                return Ok(false);
            }
        }
        if !is_control_ready {
            return Ok(true);
        }
        let Ok(Some((request, descriptors))) = control::receive::<ForkRequest>(&self.control) else {
            return Ok(false);
        };
        let id = request.id;
        let replied = match self.fork(&request, descriptors, run_child) {
            Ok(child) => {
                let report = ZygoteReport::Forked { id };
                let sent = control::send(&self.control, &report, &[child.descriptor.as_fd()]);
                self.children.push(child);
                sent
            }
            Err(error) => {
                let report = ZygoteReport::Failed { id, reason: error.to_string() };
                control::send(&self.control, &report, &[])
            }
        };
        Ok(replied.is_ok())
    }

    /// Waits for the gateway or a child. Returns whether the gateway sent something, and the indices of the children that
    /// exited.
    fn wait(&self) -> io::Result<(bool, Vec<usize>)> {
        let descriptors = self.children.iter().map(|child| child.descriptor.as_fd());
        let mut watched: Vec<PollFd<'_>> = std::iter::once(self.control.as_fd())
            .chain(descriptors)
            .map(|descriptor: BorrowedFd<'_>| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        rustix::io::retry_on_intr(|| poll(&mut watched, None))?;
        let is_ready = |entry: &PollFd<'_>| !entry.revents().is_empty();
        let exited =
            (1..watched.len()).filter(|index| is_ready(&watched[*index])).map(|index| index - 1).collect();
        Ok((is_ready(&watched[0]), exited))
    }

    fn fork(
        &mut self,
        request: &ForkRequest,
        descriptors: Vec<OwnedFd>,
        run_child: &impl Fn(OwnedFd, WakePipe),
    ) -> io::Result<Child> {
        let [socket, stderr] = <[OwnedFd; 2]>::try_from(descriptors)
            .map_err(|_| io::Error::other("a fork request needs two descriptors"))?;
        let zygote = rustix::process::getpid();
        match self.single_threaded.fork()? {
            ForkResult::Parent(process) => match pidfd_open(process, PidfdFlags::empty()) {
                Ok(descriptor) => Ok(Child { id: request.id, process, descriptor }),
                Err(error) => {
                    kill_process(process, Signal::KILL)?;
                    waitpid(Some(process), WaitOptions::empty())?;
                    Err(error.into())
                }
            },
            ForkResult::Child => {
                if let Ok(wake) = self.become_child(zygote, stderr, request.memory_bytes) {
                    run_child(socket, wake);
                    process::exit_immediately(0);
                }
                process::exit_immediately(2)
            }
        }
    }

    /// Releases the zygote's resources and closes the cage.
    fn become_child(&mut self, zygote: Pid, stderr: OwnedFd, memory_bytes: u64) -> io::Result<WakePipe> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(zygote) {
            return Err(io::Error::other("the zygote has exited"));
        }
        rustix::stdio::dup2_stderr(stderr)?;
        self.children.clear();
        // Replaces, and thus closes, the child's copy of the control socket; standard input is /dev/null.
        self.control = io::stdin().as_fd().try_clone_to_owned()?;
        let wake = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        self.cage.close(self.address_space.saturating_add(memory_bytes))?;
        Ok(wake)
    }
}
