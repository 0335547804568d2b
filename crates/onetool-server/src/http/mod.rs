//! The server over HTTP: MCP at `/mcp`, health at `/livez` and `/readyz`, and a gateway's routes, behind one access layer.

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

/// Largest request body that is taken, unless an [`HttpOptions`] says otherwise.
pub const DEFAULT_MAX_BODY: usize = 4 * 1024 * 1024;

/// Longest name of a profile: it is kept with everything that belongs to its callers.
const MAX_PROFILE: usize = 64;

/// How long connections may take to finish after the last answer was given.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a server is reached over HTTP.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Who may come in.
    pub access: Access,
    /// Largest request body in bytes.
    pub max_body: usize,
    /// How many connections are held open, and how long each may keep the server waiting.
    pub connections: ConnectionLimits,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            access: Access::default(),
            max_body: DEFAULT_MAX_BODY,
            connections: ConnectionLimits::default(),
        }
    }
}

/// Makes the routes of a server, to be served alone or merged into another axum application.
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

/// Routes that a gateway adds to those of the server.
#[derive(Debug, Default)]
pub struct ExtraRoutes {
    /// Routes for callers with access; each request has its [`Caller`] in its extensions.
    pub protected: Router,
    /// Routes for everyone, which must not reveal anything.
    pub open: Router,
}

/// Makes all routes behind one access layer: it checks host and origin for every route, then the token and the caller for
/// every route but the open ones.
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
        .layer(axum::middleware::from_fn_with_state(options.access, access::require_known_place))
}

/// Serves until `stop` is cancelled; then takes no new connections, lets calls under way end for at most `drain`, and
/// closes every stream.
///
/// # Errors
/// None yet: what goes wrong with a connection ends that connection.
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

/// Serves routes of the server, as [`serve`] does; `limits` is asked for every new connection.
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
            tracing::warn!("calls were still running when the time to drain was over");
        }
    };
    // Connections have to be served on while their calls end.
    tokio::select! {
        () = &mut serving => {
            server.shut_down(Duration::ZERO).await;
            return;
        }
        () = shut_down => {}
    }
    // Whoever has not read the last response by then loses it.
    let _ = tokio::time::timeout(LAST_WORDS, serving).await;
}

async fn ready(State(server): State<Server>) -> (http::StatusCode, &'static str) {
    if server.shutdown_token().is_cancelled() {
        (http::StatusCode::SERVICE_UNAVAILABLE, "shutting down\n")
    } else {
        (http::StatusCode::OK, "ready\n")
    }
}

async fn default_profile(State(mcp): State<McpHttp>, request: Request) -> Response {
    mcp.answer(request).await
}

async fn named_profile(
    State(mcp): State<McpHttp>,
    Path(profile): Path<String>,
    mut request: Request,
) -> Response {
    if profile.len() > MAX_PROFILE {
        let error = format!("The profile's name is longer than {MAX_PROFILE} characters.");
        return (http::StatusCode::NOT_FOUND, Json(json!({"error": error}))).into_response();
    }
    if let Some(caller) = request.extensions_mut().get_mut::<Caller>() {
        caller.profile = profile.into();
    }
    mcp.answer(request).await
}

async fn not_found() -> http::StatusCode {
    http::StatusCode::NOT_FOUND
}
