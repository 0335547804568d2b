//! The server on the wire: MCP over stdio, over any pair of streams, and over streamable HTTP.
//!
//! Only this room names the types of the MCP SDK.

mod call;
mod convert;
mod declare;
mod handler;
mod http;
mod lines;
mod news;
mod parked;
mod room;
mod seal;
mod session;
mod stdout;
mod verbatim;

use rmcp::ServiceExt as _;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Server;
use handler::Handler;
pub use http::McpHttp;
use lines::LineTransport;
use parked::ParkedCalls;
use seal::StateSeal;

/// What requests of stateless clients leave behind for the next one.
struct Wire {
    seal: StateSeal,
    parked: ParkedCalls,
}

impl Wire {
    fn of(server: &Server) -> &Self {
        server.wire(|| Self { seal: StateSeal::random(), parked: ParkedCalls::default() })
    }
}

/// What is said of a message that is short as text and large in memory.
const TOO_HEAVY: &str = "the message would take more than 128 MiB of memory";

/// A session that could not be served to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not complete the handshake.
    #[error("the MCP handshake failed: {reason}")]
    Handshake {
        /// What went wrong.
        reason: String,
    },
    /// The task that served the session ended badly.
    #[error("the MCP session ended unexpectedly: {reason}")]
    Session {
        /// What went wrong.
        reason: String,
    },
}

impl Server {
    /// Serves one client over standard input and output until it closes them or the server shuts down.
    ///
    /// A client that closes its output still gets the answers it waits for; one that closes both is gone, and its calls
    /// stop.
    ///
    /// # Errors
    /// When the handshake fails, or the session ends unexpectedly.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve_lines(read, write, stdout::closed()).await
    }

    /// Serves one client over a pair of streams, one JSON message a line.
    ///
    /// # Errors
    /// When the handshake fails, or the session ends unexpectedly.
    pub async fn serve_streams<R, W>(&self, read: R, write: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_lines(read, write, std::future::pending()).await
    }

    /// Serves one client; `unread` ends when nobody can read the answers any more.
    async fn serve_lines<R, W>(
        &self,
        read: R,
        write: W,
        unread: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        use rmcp::service::{QuitReason, ServerInitializeError};

        let handler = Handler::new(self.clone());
        let transport = LineTransport::new(read, write, self, handler.ended(), Box::pin(unread));
        let running = match handler.serve_with_ct(transport, self.shutdown_token().child_token()).await {
            Ok(running) => running,
            // A client that goes away before it said anything is no failure.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(ServeError::Handshake { reason: error.to_string() }),
        };
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => {
                Err(ServeError::Session { reason: error.to_string() })
            }
            Ok(_) => Ok(()),
        }
    }
}
