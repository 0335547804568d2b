//! The four ways to connect to a gateway: lines and HTTP, each in both protocol eras.

use onetool::Server;
use onetool::http::HttpOptions;
use onetool_testkit::{Client, Era, HttpServer};
use serde_json::json;

/// A gateway's server that clients can connect to.
pub(crate) struct Ways {
    server: Server,
    http: HttpServer,
}

/// A client, and how it is connected.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) era: Era,
    pub(crate) way: String,
}

impl Ways {
    pub(crate) async fn to(server: &Server) -> Self {
        let http = HttpServer::start(server, HttpOptions::default()).await;
        Self { server: server.clone(), http }
    }

    /// Connects one client in every way.
    pub(crate) async fn all(&self) -> Vec<Connected> {
        let mut connected = Vec::new();
        for era in Era::BOTH {
            let client = Client::connect_with(&self.server, era).await;
            connected.push(Connected { client, era, way: format!("lines, {era:?}") });
            let client = self.http(era).await;
            connected.push(Connected { client, era, way: format!("HTTP, {era:?}") });
        }
        connected
    }

    pub(crate) async fn http(&self, era: Era) -> Client {
        self.profile("", era).await
    }

    /// Connects over HTTP to the gateway's URL with `/profile` appended.
    pub(crate) async fn profile(&self, profile: &str, era: Era) -> Client {
        Client::connect_http(&self.http.url(&format!("/mcp{profile}")), None, era).await
    }
}

/// Runs a command and returns the text of its result.
pub(crate) async fn run(client: &Client, command: &str) -> String {
    client.call_text("run", json!({"command": command})).await
}
