//! A child that does not keep to the protocol.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::{Ending, talk};
use crate::link::Exit;
use crate::{Host, HostCall, HostError, Input, LimitKind, Limits, NameKind, Outcome, Program, RunError};

struct Gone;

impl Ending for Gone {
    async fn exit(&mut self) -> Exit {
        Exit::Code(0)
    }

    fn stderr(&self) -> String {
        String::new()
    }
}

/// Answers every call with its first argument, and knows no name.
struct Echo;

impl Host for Echo {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        assert!(names.len() <= 1024, "{}", names.len());
        Box::pin(async move { vec![NameKind::Tool; names.len()] })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Value, HostError>> {
        Box::pin(async move { Ok(call.args.first().cloned().unwrap_or_default()) })
    }
}

/// Has a child send `bytes` and nothing else.
async fn child_that_sends(bytes: Vec<u8>) -> Result<Outcome, RunError> {
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(ours);
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    let program =
        Program { source: String::new(), file_name: "main.py".into(), input: Input::Nothing, depth: 0 };
    let send = async {
        // The gateway may stop reading before everything is sent.
        let _ = theirs.write_all(&bytes).await;
        let _ = theirs.shutdown().await;
        theirs
    };
    let (outcome, _open) = tokio::join!(talk(reader, writer, Gone, program, &limits, &Echo), send);
    outcome
}

fn frame(value: &Value) -> Vec<u8> {
    crate::wire::encode(value).unwrap()
}

#[tokio::test]
async fn h5_names_are_asked_for_once_and_their_number_is_bounded() {
    let many: Vec<String> = (0..5000).map(|i| format!("n{i}")).collect();
    let done =
        json!({"done": {"value": {"has_value": false, "value": null, "format": null, "sanitize": false}}});
    let once = [frame(&json!({"names": many})), frame(&done)].concat();
    assert!(child_that_sends(once).await.is_ok());
    let twice = frame(&json!({"names": ["a"]})).repeat(2);
    match child_that_sends(twice).await {
        Err(RunError::Died { reason, .. }) => {
            assert_eq!(reason, "it sent something unexpected: it asked for names twice");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn h5_a_length_alone_takes_no_memory() {
    let outcome = child_that_sends(vec![0, 0, 0, 2]).await;
    assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    let outcome = child_that_sends(vec![255; 4]).await;
    assert!(matches!(&outcome, Err(RunError::Limit { limit: LimitKind::Result, .. })), "{outcome:?}");
}

#[tokio::test]
async fn h5_arguments_count_as_they_are_in_memory() {
    let zeros = vec![0; 2_000_000];
    let call = json!({"call": {"id": 1, "name": "t.echo", "args": [zeros], "kwargs": {}}});
    let outcome = child_that_sends(frame(&call)).await;
    assert!(matches!(&outcome, Err(RunError::Limit { limit: LimitKind::Buffer, .. })), "{outcome:?}");
}

#[tokio::test]
async fn garbage_ends_the_run_with_a_reason() {
    for bytes in
        [&b"\x02\0\0\0{}"[..], b"\x01\0\0\0x", b"\x04\0\0\0null", b"\x03\0\0\0[1]", b"\x07\0\0\0{\"do"]
    {
        let outcome = child_that_sends(bytes.to_vec()).await;
        assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    }
}
