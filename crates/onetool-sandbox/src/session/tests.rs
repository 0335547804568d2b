//! A child that violates the protocol.

use serde_json::{Value, json};

use crate::fuzzing::child_that_sends;
use crate::{LimitKind, RunError};

fn frame(value: &Value) -> Vec<u8> {
    crate::wire::encode(value).unwrap()
}

#[tokio::test]
async fn h5_names_are_requested_once_and_their_number_is_bounded() {
    let many: Vec<String> = (0..5000).map(|i| format!("n{i}")).collect();
    let done =
        json!({"done": {"value": {"has_value": false, "value": null, "format": null, "sanitize": false}}});
    let once = [frame(&json!({"names": many})), frame(&done)].concat();
    assert!(child_that_sends(&once).await.is_ok());
    let twice = frame(&json!({"names": ["a"]})).repeat(2);
    match child_that_sends(&twice).await {
        Err(RunError::Died { reason, .. }) => {
            assert_eq!(reason, "protocol error: it requested names twice");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn h5_a_claimed_length_takes_no_memory() {
    let outcome = child_that_sends(&[0, 0, 0, 2]).await;
    assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    let outcome = child_that_sends(&[255; 4]).await;
    assert!(matches!(&outcome, Err(RunError::Limit { limit: LimitKind::Result, .. })), "{outcome:?}");
}

#[tokio::test]
async fn h5_arguments_count_with_their_size_in_memory() {
    let zeros = vec![0; 2_000_000];
    let call = json!({"call": {"id": 1, "name": "t.echo", "args": [zeros], "kwargs": {}}});
    let outcome = child_that_sends(&frame(&call)).await;
    assert!(matches!(&outcome, Err(RunError::Limit { limit: LimitKind::Buffer, .. })), "{outcome:?}");
}

#[tokio::test]
async fn garbage_ends_the_run_with_a_reason() {
    for bytes in
        [&b"\x02\0\0\0{}"[..], b"\x01\0\0\0x", b"\x04\0\0\0null", b"\x03\0\0\0[1]", b"\x07\0\0\0{\"do"]
    {
        let outcome = child_that_sends(bytes).await;
        assert!(matches!(&outcome, Err(RunError::Died { .. })), "{outcome:?}");
    }
}
