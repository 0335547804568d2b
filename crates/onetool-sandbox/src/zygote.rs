//! The zygote: a process with a warm interpreter and one thread that forks a child for every run.
//!
//! It never runs the user's code. It ends when the gateway's end of the control socket closes, and its children end
//! with it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getppid, kill_process, pidfd_open, waitpid,
};

use onetool_cage::process::{self, OneThread, Side};
use onetool_cage::{Cage, CageReport, be_first_to_go, isolate};

use crate::child;
use crate::control::{self, ForkRequest, ZygoteReport};

/// Runs the zygote until the gateway goes away; for the hidden subcommand that
/// [`WorkerCommand`](crate::WorkerCommand) names.
///
/// Must be called from the main thread before any other thread exists. The control socket is its standard input.
pub fn zygote_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // A gateway may be gone before its worker is ready: a session over stdio that ended at once.
        Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the Python worker ends");
            ExitCode::FAILURE
        }
    }
}

/// A pipe with which one thread of a child wakes another.
type Wake = (OwnedFd, OwnedFd);

struct Zygote {
    control: OwnedFd,
    cage: Cage,
    one_thread: OneThread,
    /// Addresses that this process takes, and so every child from its start.
    address_space: u64,
    children: Vec<Child>,
}

struct Child {
    id: u64,
    process: Pid,
    descriptor: OwnedFd,
}

fn serve() -> io::Result<()> {
    // Whatever the gateway was started with is not for programs.
    process::close_descriptors_from(3)?;
    be_first_to_go();
    let namespaces = isolate()?;
    let control = take_standard_input()?;
    process::use_one_arena();
    let interpreter = child::warm_interpreter();
    interpreter.enter(|vm| {
        let prelude = child::warm_prelude(vm).map_err(io::Error::other)?;
        let one_thread = OneThread::check()?;
        process::give_program_pages_back();
        process::keep_heap_in_large_pages();
        let address_space = process::address_space()?;
        let cage = Cage::enter(namespaces)?;
        let mut zygote = Zygote { control, cage, one_thread, address_space, children: Vec::new() };
        let report = zygote.try_cage()?;
        control::send(&zygote.control, &ZygoteReport::Ready { cage: report }, &[])?;
        zygote.run(|socket, wake| child::run(vm, &prelude, socket, wake))
    })
}

/// Moves the control socket away from descriptor 0, where it was handed over.
fn take_standard_input() -> io::Result<OwnedFd> {
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(control)
}

impl Zygote {
    /// Closes the cage around a child that does nothing else, so that a cage that cannot be closed is noticed before
    /// there is a program to run.
    fn try_cage(&self) -> io::Result<CageReport> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        match self.one_thread.fork()? {
            Side::Child => {
                let closed = self.cage.close(self.address_space.saturating_add(16 << 20));
                let message = match closed {
                    Ok(report) => serde_json::to_vec(&Ok::<_, String>(report)),
                    Err(error) => serde_json::to_vec(&Err::<CageReport, _>(error.to_string())),
                };
                let is_sent = message.is_ok_and(|message| rustix::io::write(&writer, &message).is_ok());
                process::exit_now(i32::from(!is_sent));
            }
            Side::Parent(child) => {
                drop(writer);
                let mut message = [0; 1024];
                let length = rustix::io::retry_on_intr(|| rustix::io::read(&reader, &mut message))?;
                waitpid(Some(child), WaitOptions::empty())?;
                serde_json::from_slice::<Result<CageReport, String>>(&message[..length])?
                    .map_err(io::Error::other)
            }
        }
    }

    /// Serves until the gateway is gone.
    fn run(&mut self, run_child: impl Fn(OwnedFd, Wake)) -> io::Result<()> {
        while self.serve_once(&run_child)? {}
        // Nobody waits for the children any more.
        for child in &self.children {
            // One that has just ended by itself is no failure.
            let _ = kill_process(child.process, Signal::KILL);
        }
        Ok(())
    }

    /// Waits for one event and deals with it; false when the gateway is gone.
    fn serve_once(&mut self, run_child: &impl Fn(OwnedFd, Wake)) -> io::Result<bool> {
        let (is_control_ready, ended) = self.wait()?;
        // From the last to the first, so that removing one moves none that is still to be removed.
        for index in ended.into_iter().rev() {
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
        let answered = match self.fork(&request, descriptors, run_child) {
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
        Ok(answered.is_ok())
    }

    /// Waits until the gateway or a child has something to say; gives the indices of the children that ended.
    fn wait(&self) -> io::Result<(bool, Vec<usize>)> {
        let descriptors = self.children.iter().map(|child| child.descriptor.as_fd());
        let mut watched: Vec<PollFd<'_>> = std::iter::once(self.control.as_fd())
            .chain(descriptors)
            .map(|descriptor: BorrowedFd<'_>| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        rustix::io::retry_on_intr(|| poll(&mut watched, None))?;
        let is_ready = |entry: &PollFd<'_>| !entry.revents().is_empty();
        let ended =
            (1..watched.len()).filter(|index| is_ready(&watched[*index])).map(|index| index - 1).collect();
        Ok((is_ready(&watched[0]), ended))
    }

    fn fork(
        &mut self,
        request: &ForkRequest,
        descriptors: Vec<OwnedFd>,
        run_child: &impl Fn(OwnedFd, Wake),
    ) -> io::Result<Child> {
        let [socket, stderr] = <[OwnedFd; 2]>::try_from(descriptors)
            .map_err(|_| io::Error::other("a fork request needs two descriptors"))?;
        let zygote = rustix::process::getpid();
        match self.one_thread.fork()? {
            Side::Parent(process) => match pidfd_open(process, PidfdFlags::empty()) {
                Ok(descriptor) => Ok(Child { id: request.id, process, descriptor }),
                Err(error) => {
                    kill_process(process, Signal::KILL)?;
                    waitpid(Some(process), WaitOptions::empty())?;
                    Err(error.into())
                }
            },
            Side::Child => {
                if let Ok(wake) = self.become_child(zygote, stderr, request.memory_bytes) {
                    run_child(socket, wake);
                    process::exit_now(0);
                }
                process::exit_now(2)
            }
        }
    }

    /// Lets go of all that is the zygote's, and enters the cage.
    fn become_child(&mut self, zygote: Pid, stderr: OwnedFd, memory_bytes: u64) -> io::Result<Wake> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(zygote) {
            return Err(io::Error::other("the zygote is gone"));
        }
        rustix::stdio::dup2_stderr(stderr)?;
        self.children.clear();
        // The child's copy of the control socket must not outlive this call; descriptor 0 is /dev/null.
        self.control = io::stdin().as_fd().try_clone_to_owned()?;
        let wake = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        self.cage.close(self.address_space.saturating_add(memory_bytes))?;
        Ok(wake)
    }
}
