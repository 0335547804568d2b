//! A client that sends raw lines, for messages that no correct client sends.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot continue has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

use std::time::Duration;

use onetool::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

/// Writes arbitrary lines and reads messages.
pub struct RawClient {
    read: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    write: Option<Box<dyn AsyncWrite + Send + Unpin>>,
}

impl RawClient {
    /// Connects to a server in this process.
    pub fn connect(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let server = server.clone();
        tokio::spawn(async move { server.serve_streams(read, write).await });
        let (read, write) = tokio::io::split(ours);
        Self::from_streams(read, write)
    }

    /// Connects over a pair of streams.
    pub fn from_streams(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { read: BufReader::new(Box::new(read)), write: Some(Box::new(write)) }
    }

    /// Sends `initialize` and `notifications/initialized`, and returns the response to the former.
    pub async fn initialize(&mut self) -> Value {
        let response = self.request("initialize", initialize_params()).await;
        self.send_line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        response
    }

    /// Sends a request and returns the next response.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.send_line(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
            .await;
        self.response().await
    }

    /// Sends a line unchanged.
    pub async fn send_line(&mut self, line: &str) {
        let write = self.write.as_mut().expect("the input is open");
        write.write_all(line.as_bytes()).await.expect("the server reads");
        write.write_all(b"\n").await.expect("the server reads");
        write.flush().await.expect("the server reads");
    }

    /// Closes the server's input; the output stays open.
    pub async fn close_input(&mut self) {
        if let Some(mut write) = self.write.take() {
            write.shutdown().await.expect("the input closes");
        }
    }

    /// Returns the next message, or `None` at the end of the output.
    pub async fn message(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(10), self.read.read_line(&mut line)).await;
        let count = read.expect("the server responds in time").expect("the output can be read");
        (count > 0).then(|| serde_json::from_str(&line).expect("every line is JSON"))
    }

    /// Returns the next response, skipping requests and notifications from the server.
    pub async fn response(&mut self) -> Value {
        loop {
            let message = self.message().await.expect("the server is running");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}

/// Returns the parameters for an `initialize` request.
pub(crate) fn initialize_params() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}})
}
