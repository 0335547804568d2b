//! Frames between the gateway and a child: a 4-byte little-endian length, followed by that many bytes of JSON.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{HostError, HostReply, Input, LimitKind, NameKind};

/// A frame from the gateway.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToChild {
    /// The first frame.
    Program { source: String, file_name: String, input: Input, max_frame: usize, max_result: usize },
    /// The response to [`FromChild::Names`].
    Names(Vec<NameKind>),
    /// The response to [`FromChild::Call`].
    // The frames in the fuzz corpus use this key.
    #[serde(rename = "answer")]
    Reply { id: u64, result: Result<HostReply, HostError> },
}

/// A frame from a child.
///
/// The child has parsed values. The gateway keeps values as JSON text, because the size of the text bounds its memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromChild<V = Value> {
    /// Requests the kinds of these names.
    Names(Vec<String>),
    /// Calls the host.
    Call { id: u64, name: String, args: V, kwargs: V },
    /// Printed text.
    Print(String),
    /// The last frame.
    Done(Done<V>),
}

/// The result of the code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Done<V = Value> {
    Value { has_value: bool, value: V, format: Option<String>, sanitize: bool },
    Exception { kind: String, message: String, line: Option<u32>, traceback: String },
    Syntax { message: String, line: u32, column: u32, text: String },
    Limit(LimitKind),
}

/// Encodes a frame.
pub(crate) fn encode(frame: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, frame)?;
    let length =
        u32::try_from(bytes.len() - 4).map_err(|_| io::Error::other("the frame is larger than 4 GB"))?;
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
    // Allocates for the bytes that arrive, not for the claimed length.
    let mut bytes = Vec::new();
    if from.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&bytes)?)
}
