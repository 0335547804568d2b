//! HTTP response bodies, read up to a limit: complete ones, and streams of server-sent events.

use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use reqwest::Response;
use rmcp::model::RequestId;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use serde_json::json;
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::decode::{self, Decoder, Form};

/// A body that could not be read.
pub(crate) enum ReadError {
    TooLong,
    Timeout,
    Http(reqwest::Error),
}

/// Reads a complete body.
pub(crate) async fn read(
    mut response: Response,
    max: usize,
    timeout: Duration,
) -> Result<Vec<u8>, ReadError> {
    let body = async {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(ReadError::Http)? {
            if body.len() + chunk.len() > max {
                return Err(ReadError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    };
    tokio::time::timeout(timeout, body).await.unwrap_or(Err(ReadError::Timeout))
}

/// Reads the events of a body, each up to a limit.
pub(crate) fn events(response: Response, max: usize) -> BoxedSseResponse {
    SseStream::from_bytes_stream(bounded(response.bytes_stream(), max)).boxed()
}

/// Reads the messages in the event stream that is the response to a request.
pub(crate) fn messages(
    response: Response,
    decoder: Decoder,
    request: Option<RequestId>,
    max: usize,
) -> BoxedSseResponse {
    let server = decoder.server.clone();
    let events = for_sdk(events(response, max), decoder).map(move |event| match (event, &request) {
        (Err(SseError::Body(error)), Some(id)) if error.to_string() == too_long(max) => {
            let error = decode::error_for_request(&server, id.clone(), &too_long(max));
            Ok(Sse::default().data(serde_json::to_string(&error).unwrap_or_default()))
        }
        (event, _) => event,
    });
    events.boxed()
}

/// Returns why a body over the limit is not read.
pub(crate) fn too_long(max: usize) -> String {
    format!("it is longer than {max} bytes")
}

/// Rewrites the messages of a stream so that the SDK passes results through unchanged, and replaces responses that
/// cannot be decoded by errors.
pub(crate) fn for_sdk(events: BoxedSseResponse, decoder: Decoder) -> BoxedSseResponse {
    let events = events.map(move |event| {
        event.map(|mut event| {
            let rewritten = event.data.as_deref().and_then(|data| rewrite(data, &decoder));
            event.data = rewritten.or(event.data);
            event
        })
    });
    events.boxed()
}

/// Returns the text that replaces a message, if it has to be replaced.
fn rewrite(data: &str, decoder: &Decoder) -> Option<String> {
    let bytes = data.as_bytes();
    let error = match decode::parse(bytes) {
        Ok(mut message) => match (decoder.form, message.get_mut("result")) {
            (Form::Raw, Some(result)) => {
                *result = json!({decode::RAW: result.take()});
                return Some(message.to_string());
            }
            (Form::Both, Some(result)) => {
                decode::attach_raw(result);
                return Some(message.to_string());
            }
            _ => decode::typed(message, Form::Typed).err()?.to_string(),
        },
        Err(error) => error,
    };
    serde_json::to_string(&decode::error_for_message(&decoder.server, bytes, &error)?).ok()
}

/// Ends a stream with an error as soon as one of its events exceeds the limit.
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

/// The size of the current event, which ends at an empty line.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Adds a chunk, and returns the size of the longest event in it.
    fn grow(&mut self, chunk: &[u8]) -> usize {
        let mut longest = 0;
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_complete = line.ends_with(b"\n");
            let is_empty = is_complete && self.line == 0 && matches!(line, b"\n" | b"\r\n");
            self.event = if is_empty { 0 } else { self.event + line.len() };
            self.line = if is_complete { 0 } else { self.line + line.len() };
            longest = longest.max(self.event);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_the_size_of_an_event_is_counted_across_chunks_and_restarts_after_an_empty_line() {
        let mut size = EventSize::default();
        assert_eq!(size.grow(b"data: 12345\ndata: 6"), 19);
        assert_eq!(size.grow(b"7\n\nid: 1\r"), 21, "the second event is shorter");
        assert_eq!(size.grow(b"\n\r\ndata: x\n\n"), 8);
        assert_eq!(size.grow(b""), 0);
    }

    #[test]
    fn seam_10_a_result_passes_through_the_sdk_unchanged() {
        let decoder = Decoder { server: "up".into(), form: Form::Raw };
        let result = json!({"content": [{"type": "text", "text": "x", "vendor": 1}], "vendor": {"a": null}});
        let data = json!({"jsonrpc": "2.0", "id": 1, "result": result.clone()}).to_string();
        let rewritten = rewrite(&data, &decoder).unwrap();
        let message: rmcp::model::ServerJsonRpcMessage = serde_json::from_str(&rewritten).unwrap();
        let rmcp::model::JsonRpcMessage::Response(response) = message else { panic!("{message:?}") };
        assert_eq!(decode::raw_result(response.result).ok(), Some(result));
    }
}
