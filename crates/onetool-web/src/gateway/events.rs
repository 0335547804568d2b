//! Live news as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use serde::Serialize;

use super::{CallSummary, EventStream, ServerInfo};

/// How often a silent stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum GatewayEvent {
    /// Tools came, went or changed; ask again.
    ToolsChanged,
    /// What is active for the caller changed; ask again.
    ActiveChanged,
    /// A server is not as it was.
    ServerHealth {
        /// The server as it is now.
        server: ServerInfo,
    },
    /// A call ended.
    CallFinished {
        /// The call.
        call: CallSummary,
    },
}

/// Makes the answer that carries the news. It begins with a comment, so that the client knows that it listens.
pub(super) fn stream(events: EventStream) -> Response {
    let hello = futures::stream::once(async { Event::default().comment("listening") });
    let news = events.filter_map(async |event| Event::default().json_data(&event).ok());
    let stream = hello.chain(news).map(Ok::<_, Infallible>);
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
