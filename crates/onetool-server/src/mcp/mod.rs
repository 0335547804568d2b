//! The MCP protocol over stdio, over any pair of streams, and over streamable HTTP.
//!
//! Only this module uses the types of the MCP SDK.

mod call;
mod convert;
mod declare;
mod handler;
mod http;
mod lines;
mod memory;
mod notify;
mod parked;
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

/// State that requests of stateless clients leave for later requests.
struct Wire {
    seal: StateSeal,
    parked: ParkedCalls,
}

impl Wire {
    fn of(server: &Server) -> &Self {
        server
            .wire(|| Self { seal: StateSeal::new(server.sessions().clone()), parked: ParkedCalls::default() })
    }
}

/// The error for a message that is short as text, but large in memory.
const TOO_HEAVY: &str = "the message would take more than 128 MiB of memory";

/// A session that failed.
///
/// ```
/// # async fn serve(server: onetool_server::Server) {
/// use onetool_server::ServeError;
///
/// match server.serve_stdio().await {
///     Ok(()) => {}
///     Err(ServeError::Handshake { reason }) => eprintln!("the client does not speak MCP: {reason}"),
///     Err(error) => eprintln!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The handshake failed.
    #[error("the MCP handshake failed: {reason}")]
    Handshake {
        /// The reason.
        reason: String,
    },
    /// The session ended unexpectedly.
    #[error("the MCP session ended unexpectedly: {reason}")]
    Session {
        /// The reason.
        reason: String,
    },
}

impl Server {
    /// Serves one client over standard input and output until it closes them or the server shuts down.
    ///
    /// A client that closes only its output still gets its pending responses. If it closes its input, too, its calls are
    /// canceled.
    ///
    /// # Errors
    /// If the handshake fails, or the session ends unexpectedly.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve_lines(read, write, stdout::closed()).await
    }

    /// Serves one client over a pair of streams, with one JSON message per line.
    ///
    /// # Errors
    /// If the handshake fails, or the session ends unexpectedly.
    pub async fn serve_streams<R, W>(&self, read: R, write: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_lines(read, write, std::future::pending()).await
    }

    /// Serves one client; `disconnected` completes when the client can no longer read responses.
    async fn serve_lines<R, W>(
        &self,
        read: R,
        write: W,
        disconnected: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        use rmcp::service::{QuitReason, ServerInitializeError};

        let handler = Handler::new(self.clone());
        let transport = LineTransport::new(read, write, self, handler.ended(), Box::pin(disconnected));
        let running = match handler.serve_with_ct(transport, self.shutdown_token().child_token()).await {
            Ok(running) => running,
            // It is not an error if a client disconnects before its first message.
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
