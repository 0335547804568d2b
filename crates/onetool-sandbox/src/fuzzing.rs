//! A simulated child that sends arbitrary bytes, for tests and for the fuzz targets in `fuzz/`.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::AsyncWriteExt as _;

use crate::link::Exit;
use crate::session::{ChildStatus, run_session};
use crate::{Host, HostCall, HostError, HostReply, Input, Limits, NameKind, Outcome, Program, RunError};

struct Exited;

impl ChildStatus for Exited {
    async fn exit(&mut self) -> Exit {
        Exit::Code(0)
    }

    fn stderr(&self) -> String {
        String::new()
    }
}

/// Returns the first argument of every call, and treats every name as a tool.
struct Echo;

impl Host for Echo {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        assert!(names.len() <= 1024, "{}", names.len());
        Box::pin(async move { vec![NameKind::Tool; names.len()] })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>> {
        Box::pin(async move { Ok(call.args.first().cloned().unwrap_or_default().into()) })
    }
}

/// Runs a program in a child that sends only `bytes`.
pub(crate) async fn child_that_sends(bytes: &[u8]) -> Result<Outcome, RunError> {
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(ours);
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    let program =
        Program { source: String::new(), file_name: "main.py".into(), input: Input::Nothing, depth: 0 };
    let send = async {
        // The gateway may stop reading before everything is sent.
        let _ = theirs.write_all(bytes).await;
        let _ = theirs.shutdown().await;
        theirs
    };
    let (outcome, _open) = tokio::join!(run_session(reader, writer, Exited, program, &limits, &Echo), send);
    outcome
}

/// Handles frames from a child, as the gateway does.
#[cfg(fuzzing)]
pub fn child_frames(frames: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    drop(runtime.block_on(child_that_sends(frames)));
}

/// Reads a frame from the gateway, as a child does.
#[cfg(fuzzing)]
pub fn gateway_frame(frame: &[u8]) {
    let _ = crate::wire::read_frame::<crate::wire::ToChild>(frame);
}
