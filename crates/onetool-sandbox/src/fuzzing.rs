//! Ways in for the fuzz targets in `fuzz/`. Not part of the crate: it is there only when the compiler fuzzes.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::link::Exit;
use crate::session::{Ending, talk};
use crate::wire::{self, ToChild};
use crate::{Host, HostCall, HostError, Input, Limits, NameKind, Program};

struct Gone;

impl Ending for Gone {
    async fn exit(&mut self) -> Exit {
        Exit::Code(0)
    }

    fn stderr(&self) -> String {
        String::new()
    }
}

/// Answers every call with what it got.
struct Echo;

impl Host for Echo {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        Box::pin(async move { vec![NameKind::Tool; names.len()] })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Value, HostError>> {
        Box::pin(async move { Ok(Value::Object(call.kwargs)) })
    }
}

/// Runs a program in a child that sends these bytes and nothing else.
pub fn child_frames(frames: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(ours);
        let limits = Limits { time: Duration::from_secs(5), max_calls: 100, ..Limits::default() };
        let program = Program {
            source: String::new(),
            file_name: "main.py".to_owned(),
            input: Input::Nothing,
            depth: 0,
        };
        let send = async {
            let _ = theirs.write_all(frames).await;
            let _ = theirs.shutdown().await;
            theirs
        };
        let (_outcome, _open) = tokio::join!(talk(reader, writer, Gone, program, &limits, &Echo), send);
    });
}

/// Reads a frame as a child does.
pub fn gateway_frame(frame: &[u8]) {
    let _ = wire::read_frame::<ToChild>(frame);
}
