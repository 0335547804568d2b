//! Frames between the gateway and a child: a length of four bytes, little-endian, and that much JSON.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{HostAnswer, HostError, Input, LimitKind, NameKind};

/// What the gateway sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToChild {
    /// The first frame.
    Program { source: String, file_name: String, input: Input, max_frame: usize, max_result: usize },
    /// Answers [`FromChild::Names`].
    Names(Vec<NameKind>),
    /// Answers [`FromChild::Call`].
    Answer { id: u64, result: Result<HostAnswer, HostError> },
}

/// What a child sends.
///
/// It has values; the gateway reads them as texts, because a text bounds the memory that it takes and a tree of values
/// does not.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromChild<V = Value> {
    /// Asks what these names are.
    Names(Vec<String>),
    /// Calls the host.
    Call { id: u64, name: String, args: V, kwargs: V },
    /// Prints.
    Print(String),
    /// The last frame.
    Done(Done<V>),
}

/// How the code ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Done<V = Value> {
    Value { has_value: bool, value: V, format: Option<String>, sanitize: bool },
    Exception { kind: String, message: String, line: Option<u32>, traceback: String },
    Syntax { message: String, line: u32, column: u32, text: String },
    Limit(LimitKind),
}

/// Makes the bytes of a frame.
pub(crate) fn encode(frame: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, frame)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| io::Error::other("the frame is over 4 GB"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Reads a frame; blocks until it is complete.
#[cfg(any(feature = "interpreter", fuzzing))]
pub(crate) fn read_frame<T: serde::de::DeserializeOwned>(mut from: impl io::Read) -> io::Result<T> {
    use io::Read as _;

    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    // What is there decides how much memory it takes, not what the length claims.
    let mut bytes = Vec::new();
    if from.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&bytes)?)
}
