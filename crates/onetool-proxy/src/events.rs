//! Bodies of HTTP responses, read up to a limit: whole ones, and streams of server-sent events.

use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use reqwest::Response;
use rmcp::model::RequestId;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use serde_json::{Value, json};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::unreadable::{self, Form, Reader};

/// The key under which a result travels through the SDK, which would make one of its own types of anything it knows.
const RAW: &str = "onetool/raw";

/// A body that could not be read.
pub(crate) enum ReadError {
    TooLong,
    TooLate,
    Broken(reqwest::Error),
}

/// Reads a whole body.
pub(crate) async fn read(
    mut response: Response,
    max: usize,
    patience: Duration,
) -> Result<Vec<u8>, ReadError> {
    let whole = async {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(ReadError::Broken)? {
            if body.len() + chunk.len() > max {
                return Err(ReadError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    };
    tokio::time::timeout(patience, whole).await.unwrap_or(Err(ReadError::TooLate))
}

/// Reads the events of a body, each up to a limit.
pub(crate) fn plain(response: Response, max: usize) -> BoxedSseResponse {
    SseStream::from_bytes_stream(bounded(response.bytes_stream(), max)).boxed()
}

/// Reads the messages in the events of the response to a request.
pub(crate) fn of(
    response: Response,
    reader: Reader,
    asked: Option<RequestId>,
    max: usize,
) -> BoxedSseResponse {
    let server = reader.server.clone();
    let events = readable(plain(response, max), reader).map(move |event| match (event, &asked) {
        (Err(SseError::Body(error)), Some(id)) if error.to_string() == too_long(max) => {
            let failed = unreadable::failed(&server, id.clone(), &too_long(max));
            Ok(Sse::default().data(serde_json::to_string(&failed).unwrap_or_default()))
        }
        (event, _) => event,
    });
    events.boxed()
}

/// Says that a response is longer than the limit.
pub(crate) fn too_long(max: usize) -> String {
    format!("it is longer than {max} bytes")
}

/// Makes the messages of a stream such that the SDK passes results on as they are, and fails what cannot be read.
pub(crate) fn readable(events: BoxedSseResponse, reader: Reader) -> BoxedSseResponse {
    let events = events.map(move |event| {
        event.map(|mut event| {
            let carried = event.data.as_deref().and_then(|data| carried(data, &reader));
            event.data = carried.or(event.data);
            event
        })
    });
    events.boxed()
}

/// Returns the text that takes the place of a message, if another has to.
fn carried(data: &str, reader: &Reader) -> Option<String> {
    let bytes = data.as_bytes();
    let error = match unreadable::data(bytes) {
        Ok(mut message) => match (reader.form, message.get_mut("result")) {
            (Form::Raw, Some(result)) => {
                *result = json!({RAW: result.take()});
                return Some(message.to_string());
            }
            (Form::Both, Some(result)) => {
                unreadable::put_beside(result);
                return Some(message.to_string());
            }
            _ => unreadable::typed(message, Form::Typed).err()?.to_string(),
        },
        Err(error) => error,
    };
    serde_json::to_string(&unreadable::replaced(&reader.server, bytes, &error)?).ok()
}

/// Takes a result out of what carried it.
pub(crate) fn uncarried(mut result: Value) -> Value {
    match result.get_mut(RAW) {
        Some(raw) => raw.take(),
        None => result,
    }
}

/// Ends a stream in which a single event gets too long.
fn bounded<S, B>(bytes: S, max: usize) -> impl Stream<Item = Result<B, std::io::Error>> + Send + 'static
where
    S: Stream<Item = reqwest::Result<B>> + Send + Unpin + 'static,
    B: AsRef<[u8]> + Send + 'static,
{
    stream::try_unfold((bytes, EventSize::default()), move |(mut bytes, mut size)| async move {
        let Some(chunk) = bytes.next().await.transpose().map_err(std::io::Error::other)? else {
            return Ok(None);
        };
        if size.grow(chunk.as_ref()) > max {
            return Err(std::io::Error::other(too_long(max)));
        }
        Ok(Some((chunk, (bytes, size))))
    })
}

/// How long the current event is, which an empty line ends.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Adds what arrived, and returns the size of the longest event in it.
    fn grow(&mut self, chunk: &[u8]) -> usize {
        let mut longest = 0;
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_over = line.ends_with(b"\n");
            let is_empty = is_over && self.line == 0 && matches!(line, b"\n" | b"\r\n");
            self.event = if is_empty { 0 } else { self.event + line.len() };
            self.line = if is_over { 0 } else { self.line + line.len() };
            longest = longest.max(self.event);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_the_size_of_an_event_is_counted_over_pieces_and_begins_again_after_an_empty_line() {
        let mut size = EventSize::default();
        assert_eq!(size.grow(b"data: 12345\ndata: 6"), 19);
        assert_eq!(size.grow(b"7\n\nid: 1\r"), 21, "the second event is shorter");
        assert_eq!(size.grow(b"\n\r\ndata: x\n\n"), 8);
        assert_eq!(size.grow(b""), 0);
    }

    #[test]
    fn seam_10_a_result_passes_through_the_sdk_as_it_is() {
        let reader = Reader { server: "up".into(), form: Form::Raw };
        let result = json!({"content": [{"type": "text", "text": "x", "vendor": 1}], "vendor": {"a": null}});
        let data = json!({"jsonrpc": "2.0", "id": 1, "result": result.clone()}).to_string();
        let carried = carried(&data, &reader).unwrap();
        let message: rmcp::model::ServerJsonRpcMessage = serde_json::from_str(&carried).unwrap();
        let rmcp::model::JsonRpcMessage::Response(response) = message else { panic!("{message:?}") };
        assert_eq!(crate::exchange::plain(response.result).ok(), Some(result));
    }
}
