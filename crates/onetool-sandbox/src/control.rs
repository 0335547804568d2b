//! Messages between the gateway and the zygote: one datagram each, with attached descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::CageReport;

/// Maximum size of a message.
const MAX_MESSAGE: usize = 4096;
/// Maximum number of descriptors attached to a message.
const MAX_DESCRIPTORS: usize = 2;

/// Requests a child. Attached: the child's end of the socket pair, and its stderr.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForkRequest {
    pub(crate) id: u64,
    pub(crate) memory_bytes: u64,
}

/// A report from the zygote.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZygoteReport {
    /// The interpreter is warm.
    Ready { cage: CageReport },
    /// A child was forked. Attached: its pidfd.
    Forked { id: u64 },
    /// A child could not be forked.
    Failed { id: u64, reason: String },
    /// A child exited.
    Exited { id: u64, code: Option<i32>, signal: Option<i32> },
}

/// Sends one message.
pub(crate) fn send(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !attached.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    rustix::io::retry_on_intr(|| {
        sendmsg(&socket, &[IoSlice::new(&bytes)], &mut attached, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// Receives one message. Returns `None` at the end of the stream.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = [0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut attached, RecvFlags::CMSG_CLOEXEC)
    })?;
    let descriptors = attached
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        return Ok(None);
    }
    Ok(Some((serde_json::from_slice(&bytes[..received.bytes])?, descriptors)))
}
