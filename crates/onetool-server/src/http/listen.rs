//! The listener: accepts connections within the limits, serves them, and lets them finish at shutdown.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream, HttpBody as _};
use futures::StreamExt as _;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connections::{ConnectionLimits, Connections, Slot};
use super::socket::{HeadTimer, Socket};

/// Maximum size of a request's head, and of the write buffer.
const MAX_BUFFER: usize = 64 * 1024;

/// Length of the accept queue. A client that finds the queue full retries only after a second.
const BACKLOG: i32 = 4096;

/// How long to wait for closed connections to release their descriptors.
const AFTER_EVICTION: Duration = Duration::from_millis(1);

/// How long to wait for descriptors if no connection can be closed.
const WITHOUT_EVICTION: Duration = Duration::from_millis(500);

/// Minimum time between two warnings about connections.
const BETWEEN_WARNINGS: Duration = Duration::from_mins(1);

const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/json\r\ncontent-length: 47\r\n\r\n{\"error\":\"Too many connections. Retry later.\"}\n";

/// Serves until `stop` is canceled and all connections have finished. Calls `limits` for every new connection.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: impl Fn() -> ConnectionLimits,
    stop: CancellationToken,
) {
    if let Err(error) = socket2::SockRef::from(&listener).listen(BACKLOG) {
        tracing::debug!(%error, "cannot increase the length of the accept queue");
    }
    let connections = Arc::new(Connections::default());
    let tasks = TaskTracker::new();
    let mut last_warning = None;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let limits = within_open_files(limits());
                if let Some(slot) = connections.admit(peer.ip(), &limits) {
                    tasks.spawn(serve_connection(stream, routes.clone(), slot, limits, stop.clone()));
                    continue;
                }
                let _ = stream.try_write(TOO_MANY);
                if is_due(&mut last_warning) {
                    tracing::warn!(
                        "refused a connection from {}: all {} open connections are in use; raise \
                         http.max_connections or http.max_connections_per_address",
                        peer.ip(),
                        tasks.len()
                    );
                }
            }
            // The client has already disconnected.
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                let pause = if connections.evict_half() { AFTER_EVICTION } else { WITHOUT_EVICTION };
                if is_due(&mut last_warning) {
                    tracing::warn!(%error, "cannot accept a connection; lower http.max_connections or raise `ulimit -n`");
                }
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(pause) => {}
                }
            }
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Serves a connection until it ends, is evicted, or the server stops and the last response is sent.
async fn serve_connection(
    stream: TcpStream,
    routes: Router,
    slot: Slot,
    limits: ConnectionLimits,
    stop: CancellationToken,
) {
    // Without this, every streamed response waits 40 ms for the acknowledgment of its first piece.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let arrived = Arc::new(AtomicBool::new(false));
    let timer = HeadTimer::new(limits.header_timeout, limits.idle_timeout, arrived.clone());
    let socket = Socket::new(stream, limits.write_timeout, arrived);
    let routes = TowerToHyperService::new(routes);
    let authorized = slot.authorized.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(|body| with_timeout(limits.body_timeout, Body::new(body)));
        request.extensions_mut().insert(authorized.clone());
        routes.call(request)
    });
    let mut serving = pin!(
        http1::Builder::new()
            .timer(timer)
            .header_read_timeout(limits.idle_timeout)
            .max_buf_size(MAX_BUFFER)
            .serve_connection(TokioIo::new(socket), service)
    );
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = slot.evicted.cancelled() => return,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Makes a body fail if it takes too long to arrive.
fn with_timeout(timeout: Duration, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let deadline = Instant::now() + timeout;
    let next = move |mut pieces: BodyDataStream| async move {
        let late = |_| Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut))));
        let piece = timeout_at(deadline, pieces.next()).await.unwrap_or_else(late);
        piece.map(|piece| (piece, pieces))
    };
    Body::from_stream(futures::stream::unfold(body.into_data_stream(), next))
}

/// Limits the connections to three quarters of the files that the process may open.
fn within_open_files(limits: ConnectionLimits) -> ConnectionLimits {
    let open_files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = open_files.and_then(|it| usize::try_from(it / 4 * 3).ok()).unwrap_or(usize::MAX);
    ConnectionLimits { max: limits.max.min(most.max(1)), ..limits }
}

/// Returns whether to log a warning. A flood of connections must not flood the log.
fn is_due(last: &mut Option<Instant>) -> bool {
    let is_due = last.is_none_or(|it| it.elapsed() > BETWEEN_WARNINGS);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}

fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};

    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
