//! `onetool serve`: MCP over stdin and stdout, or over HTTP.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
#[cfg(feature = "web")]
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::time::Duration;

use onetool::config::{Config, TokenConfig};
use onetool::http::{Access, HttpOptions};
use onetool::sync::Unpoisoned as _;
use onetool::{Gateway, HttpSource};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::Serve;
use crate::config_reader::{ConfigReader, Loaded};
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::note;
use crate::token;

/// How long in-flight calls may take to finish after SIGTERM.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

const TERMINAL_HELP: &str = "\
`onetool serve` speaks MCP over stdin and stdout. MCP clients start it; there is nothing to type here.

  Add it to a client     {\"mcpServers\": {\"onetool\": {\"command\": \"onetool\", \"args\": [\"serve\"]}}}
  Serve over HTTP        onetool serve --http
  List the tools         onetool tools
  Write a configuration  onetool init";

pub(crate) fn run(reader: &ConfigReader, args: Serve) -> Result<(), CliError> {
    if args.http.is_none() && std::io::stdin().is_terminal() {
        note(TERMINAL_HELP);
        return Ok(());
    }
    let Loaded { config, untrusted } = reader.load()?;
    Environment::check_not_recursive(&config)?;
    log_warnings(&config);
    if let Some(untrusted) = untrusted {
        let (summary, details) = (untrusted.summary(), untrusted.details());
        note(&format!("warning: {summary}{details}\nTo use it, run `{}`.", untrusted.command()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let operator_reload = Some(format!("kill -HUP {}", std::process::id()));
        let mut options = super::gateway_options(reader, &config);
        options.operator_reload = operator_reload;
        let gateway = Gateway::new(config, options)?;
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        tokio::spawn(reload_on_signal(gateway.clone(), reader.clone()));
        let serve = async {
            match args.http {
                None => serve_stdio(&gateway, stop).await,
                Some(address) => serve_http(reader, &gateway, address, stop).await,
            }
        };
        let served = tokio::select! {
            served = serve => served,
            () = gateway.work() => Ok(()),
            () = release_startup_memory(&gateway) => Ok(()),
        };
        gateway.close().await;
        served
    });
    // A pending read of stdin must not keep the process alive.
    runtime.shutdown_background();
    served
}

/// Frees memory that was needed only to start, once the gateway is ready for its first `run`. Never completes.
async fn release_startup_memory(gateway: &Gateway) {
    gateway.server().greeted().await;
    // This waits for the worker; `check` reports the gaps.
    gateway.sandbox_gaps().await;
    onetool::release_program_pages();
    std::future::pending::<()>().await;
}

fn log_warnings(config: &Config) {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
}

async fn serve_stdio(gateway: &Gateway, stop: CancellationToken) -> Result<(), CliError> {
    let server = gateway.server();
    tokio::select! {
        served = server.serve_stdio() => served.map_err(|error| CliError::failed(error.to_string())),
        () = async { stop.cancelled().await; server.shut_down(DRAIN_TIMEOUT).await; } => Ok(()),
    }
}

async fn serve_http(
    reader: &ConfigReader,
    gateway: &Gateway,
    address: Option<String>,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let config = gateway.config();
    let address = address.unwrap_or_else(|| config.http.listen.to_string());
    if !address.contains(':') {
        let invalid = CliError::usage(format!("invalid address '{address}'"));
        return Err(invalid.hinted("use HOST:PORT, for example 127.0.0.1:7411"));
    }
    let listener = TcpListener::bind(&address).await.map_err(|error| {
        CliError::failed(format!("cannot listen on {address}: {error}"))
            .hinted("`onetool serve --http 127.0.0.1:0` uses any free port")
    })?;
    let address = listener.local_addr()?;
    let (access, page_token) = token_access(reader, &config, address)?;
    note(&format!("MCP: http://{address}/mcp"));
    #[cfg(feature = "web")]
    note(&format!("page: {}", page_url(address, &page_token)));
    #[cfg(not(feature = "web"))]
    drop(page_token);
    let source = http_source(reader.clone(), (config.http.token.clone(), access), address);
    Ok(gateway.serve_http(listener, source, stop, DRAIN_TIMEOUT).await?)
}

/// Returns HTTP options that follow the configuration; `current` is the current token setting and its access rule.
fn http_source(reader: ConfigReader, current: (TokenConfig, Access), address: SocketAddr) -> HttpSource {
    let current = Mutex::new(current);
    HttpSource::following(move |config| {
        let mut current = current.lock().unpoisoned();
        if current.0 != config.http.token {
            match token_access(&reader, config, address) {
                Ok((access, _)) => *current = (config.http.token.clone(), access),
                Err(error) => tracing::error!("keeping the current access token: {}", error.message()),
            }
        }
        let own_host = (!address.ip().is_unspecified()).then(|| address.ip().to_string());
        let hosts = config.http.allowed_hosts.iter().cloned().chain(own_host);
        let origins = config.http.allowed_origins.iter().cloned();
        let access = current.1.clone().allow_hosts(hosts).allow_origins(origins);
        let mut options = HttpOptions::new(access);
        options.max_body = config.http.max_body.size();
        options.connections = config.http.connections();
        options
    })
}

/// Whether the printed URL of the page contains the token.
#[cfg_attr(not(feature = "web"), expect(dead_code, reason = "there is no page to open"))]
enum PageToken {
    /// No token is required.
    NotRequired,
    /// The token may be printed.
    Shown(String),
    /// The token must not be printed.
    Hidden,
}

/// Returns the URL of the page. The token is in the fragment, which browsers do not send, and the page removes it from
/// the address bar immediately.
#[cfg(feature = "web")]
fn page_url(address: SocketAddr, token: &PageToken) -> String {
    let host = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    let url = format!("http://{}/ui/", SocketAddr::new(host, address.port()));
    match token {
        PageToken::Shown(token) => format!("{url}#token={token}"),
        PageToken::NotRequired => url,
        PageToken::Hidden => format!("{url} (asks for the token)"),
    }
}

/// Reads or creates the token, as configured.
fn token_access(
    reader: &ConfigReader,
    config: &Config,
    address: SocketAddr,
) -> Result<(Access, PageToken), CliError> {
    Ok(match &config.http.token {
        TokenConfig::Value(token) => (Access::with_token(token.expose()), PageToken::Hidden),
        TokenConfig::None => {
            tracing::warn!("no access token is required: anyone who can reach {address} can use every tool");
            (Access::default(), PageToken::NotRequired)
        }
        TokenConfig::Auto => {
            let directory = reader.environment().state_directory(config);
            let token = token::read_or_create(directory.as_deref())?;
            // Printed only when it is new; after that, it is in the file.
            note(&match &token.file {
                Some(file) if token.is_new => format!("token: {} (saved in {})", token.value, file.display()),
                Some(file) => format!("token: saved in {}", file.display()),
                None => format!("token: {} (not saved: no home directory)", token.value),
            });
            // A trusted project stays trusted if onetool itself adds the file.
            if let Some(directory) = directory.filter(|_| token.is_new) {
                reader.trust_store().add_token(&directory)?;
            }
            let access = Access::with_token(&token.value);
            // On a terminal, print a URL that opens the page. In a file or a journal the output lasts, so do not repeat
            // the token.
            let is_shown = token.is_new || std::io::stderr().is_terminal();
            (access, if is_shown { PageToken::Shown(token.value) } else { PageToken::Hidden })
        }
    })
}

async fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::warn!("cannot listen for signals");
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("shutting down after in-flight calls finish");
    stop.cancel();
}

async fn reload_on_signal(gateway: Gateway, reader: ConfigReader) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    while hangup.recv().await.is_some() {
        let reloaded = reader.reload().and_then(|config| {
            log_warnings(&config);
            gateway.reload(config).map_err(CliError::from)
        });
        if let Err(error) = reloaded {
            tracing::error!(
                "configuration not reloaded, keeping the current one: {}",
                error.message_with_hints()
            );
        }
    }
}
