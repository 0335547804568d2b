//! The server over HTTP: MCP at `/mcp`, health at `/livez` and `/readyz`, and the gateway's routes, behind one access
//! layer.

mod access;
mod connections;
mod listen;
mod socket;

use std::io;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use onetool_core::Caller;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use access::Access;
pub use connections::ConnectionLimits;

use crate::Server;
use crate::mcp::McpHttp;

/// Default for the maximum size of a request body, in bytes.
#[doc(hidden)]
pub const DEFAULT_MAX_BODY: usize = 4 * 1024 * 1024;

/// Maximum length of a profile name, because it is stored with everything that belongs to its callers.
const MAX_PROFILE: usize = 64;

/// How long to wait for clients to read their last response.
const FINAL_READ: Duration = Duration::from_secs(1);

/// Options of the HTTP server.
///
/// ```
/// use onetool_server::http::{Access, HttpOptions};
///
/// let mut options = HttpOptions::new(Access::with_token("change-me"));
/// options.max_body = 1024 * 1024;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The access rules.
    pub access: Access,
    /// Maximum size of a request body, in bytes.
    pub max_body: usize,
    /// Limits on the number of connections and on their timeouts.
    pub connections: ConnectionLimits,
}

impl HttpOptions {
    /// Creates options with the default limits.
    pub fn new(access: Access) -> Self {
        Self { access, max_body: DEFAULT_MAX_BODY, connections: ConnectionLimits::default() }
    }
}

/// Access without a token, from this machine only, and the default limits.
impl Default for HttpOptions {
    fn default() -> Self {
        Self::new(Access::default())
    }
}

/// Creates the routes of a server, to serve alone or to merge into another axum application.
///
/// ```
/// use onetool_server::Server;
/// use onetool_server::http::{HttpOptions, router};
///
/// let server = Server::builder().build()?;
/// let app: axum::Router = axum::Router::new().nest("/agents", router(&server, HttpOptions::default()));
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
pub fn router(server: &Server, options: HttpOptions) -> Router {
    let mcp = McpHttp::new(server, options.max_body);
    routes(server, options, mcp, ExtraRoutes::default())
}

/// Routes that the gateway adds to those of the server.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ExtraRoutes {
    /// Routes for authorized callers; each request has its [`Caller`] in its extensions.
    pub protected: Router,
    /// Routes without authorization, which must not reveal anything.
    pub open: Router,
}

/// Creates all routes behind one access layer, which checks host and origin for every route, and the token for every
/// route but the open ones.
#[doc(hidden)]
pub fn routes(server: &Server, options: HttpOptions, mcp: McpHttp, extra: ExtraRoutes) -> Router {
    let protected = Router::new()
        .route("/mcp", any(default_profile))
        .route("/mcp/{profile}", any(named_profile))
        .with_state(mcp)
        .merge(extra.protected)
        .fallback(not_found)
        .layer(axum::middleware::from_fn_with_state(options.access.clone(), access::require_token))
        .layer(options.access.cross_origin());
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(ready).with_state(server.clone()))
        .merge(extra.open.layer(options.access.cross_origin()))
        .fallback_service(protected)
        .layer(axum::middleware::from_fn_with_state(options.access, access::require_known_host))
}

/// Serves until `stop` is canceled. Then accepts no new connections, lets in-flight calls finish for at most `drain`, and
/// closes all streams.
///
/// # Errors
/// None yet: an error of a connection ends only that connection.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// use onetool_server::Server;
/// use onetool_server::http::{Access, HttpOptions, serve};
/// use tokio::net::TcpListener;
/// use tokio_util::sync::CancellationToken;
///
/// let server = Server::builder().build()?;
/// let listener = TcpListener::bind("127.0.0.1:8080").await?;
/// let options = HttpOptions::new(Access::with_token("change-me"));
/// let stop = CancellationToken::new();
/// serve(&server, listener, options, stop, Duration::from_secs(30)).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve(
    server: &Server,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
    drain: Duration,
) -> io::Result<()> {
    let limits = options.connections;
    serve_routes(server, router(server, options), listener, move || limits, stop, drain).await;
    Ok(())
}

/// Serves routes like [`serve`]. Calls `limits` for every new connection.
#[doc(hidden)]
pub async fn serve_routes(
    server: &Server,
    routes: Router,
    listener: TcpListener,
    limits: impl Fn() -> ConnectionLimits,
    stop: CancellationToken,
    drain: Duration,
) {
    let mut serving = std::pin::pin!(listen::serve(listener, routes, limits, stop.clone()));
    let shut_down = async {
        stop.cancelled().await;
        if !server.shut_down(drain).await {
            tracing::warn!("calls were still running when the drain timeout expired");
        }
    };
    // Connections must be served while their calls finish.
    tokio::select! {
        () = &mut serving => {
            server.shut_down(Duration::ZERO).await;
            return;
        }
        () = shut_down => {}
    }
    // A client that is too slow loses its last response.
    let _ = tokio::time::timeout(FINAL_READ, serving).await;
}

async fn ready(State(server): State<Server>) -> (http::StatusCode, &'static str) {
    if server.shutdown_token().is_cancelled() {
        (http::StatusCode::SERVICE_UNAVAILABLE, "shutting down\n")
    } else {
        (http::StatusCode::OK, "ready\n")
    }
}

async fn default_profile(State(mcp): State<McpHttp>, request: Request) -> Response {
    mcp.handle(request).await
}

async fn named_profile(
    State(mcp): State<McpHttp>,
    Path(profile): Path<String>,
    mut request: Request,
) -> Response {
    if profile.len() > MAX_PROFILE {
        let error = format!("The profile name is longer than {MAX_PROFILE} characters.");
        return (http::StatusCode::NOT_FOUND, Json(json!({"error": error}))).into_response();
    }
    if let Some(caller) = request.extensions_mut().get_mut::<Caller>() {
        caller.profile = profile.into();
    }
    mcp.handle(request).await
}

async fn not_found() -> http::StatusCode {
    http::StatusCode::NOT_FOUND
}
