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
use onetool::{Gateway, GatewayOptions, HttpSource};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::Serve;
use crate::config_reader::{ConfigReader, Loaded};
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::note;
use crate::token;

/// How long calls under way may take to end after SIGTERM.
const DRAIN: Duration = Duration::from_secs(10);

const ON_A_TERMINAL: &str = "\
onetool serves MCP over stdin and stdout: a client starts it, a person does not.

  Add it to a client     {\"mcpServers\": {\"onetool\": {\"command\": \"onetool\", \"args\": [\"serve\"]}}}
  Serve it over HTTP     onetool serve --http
  See its tools          onetool tools
  Write a configuration  onetool init";

pub(crate) fn run(reader: &ConfigReader, asked: Serve) -> Result<(), CliError> {
    if asked.http.is_none() && std::io::stdin().is_terminal() {
        note(ON_A_TERMINAL);
        return Ok(());
    }
    let Loaded { config: loaded, untrusted } = reader.load()?;
    Environment::refuse_to_start_itself(&loaded)?;
    warn(&loaded);
    if let Some(untrusted) = untrusted {
        let (summary, details) = (untrusted.summary(), untrusted.details());
        note(&format!("warning: {summary}{details}\nTo use it, run `{}`.", untrusted.command()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let operator_reload = Some(format!("kill -HUP {}", std::process::id()));
        let options = GatewayOptions { operator_reload, ..super::gateway_options(reader, &loaded) };
        let gateway = Gateway::new(loaded, options)?;
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        tokio::spawn(reload_on_signal(gateway.clone(), reader.clone()));
        let serve = async {
            match asked.http {
                None => serve_stdio(&gateway, stop).await,
                Some(address) => serve_http(reader, &gateway, address, stop).await,
            }
        };
        let served = tokio::select! {
            served = serve => served,
            () = gateway.work() => Ok(()),
            () = settle(&gateway) => Ok(()),
        };
        gateway.close().await;
        served
    });
    // A read of stdin that never ends must not keep the process alive.
    runtime.shutdown_background();
    served
}

/// Once all is ready for the first `run`, lets go of what only the start needed; never ends.
async fn settle(gateway: &Gateway) {
    gateway.server().greeted().await;
    // Answers when the worker is ready; what it lacks is told by `check`.
    gateway.sandbox_gaps().await;
    onetool::give_program_pages_back();
    std::future::pending::<()>().await;
}

fn warn(config: &Config) {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
}

async fn serve_stdio(gateway: &Gateway, stop: CancellationToken) -> Result<(), CliError> {
    let server = gateway.server();
    tokio::select! {
        served = server.serve_stdio() => served.map_err(|error| CliError::failed(error.to_string())),
        () = async { stop.cancelled().await; server.shut_down(DRAIN).await; } => Ok(()),
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
        let no_address = CliError::usage(format!("'{address}' is no address"));
        return Err(no_address.hinted("write it like 127.0.0.1:7411"));
    }
    let listener = TcpListener::bind(&address).await.map_err(|error| {
        CliError::failed(format!("cannot listen on {address}: {error}"))
            .hinted("`onetool serve --http 127.0.0.1:0` takes any free port")
    })?;
    let address = listener.local_addr()?;
    let (access, key) = token_access(reader, &config, address)?;
    note(&format!("MCP: http://{address}/mcp"));
    #[cfg(feature = "web")]
    note(&format!("page: {}", page(address, &key)));
    #[cfg(not(feature = "web"))]
    drop(key);
    let options = following(reader.clone(), (config.http.token.clone(), access), address);
    Ok(gateway.serve_http(listener, options, stop, DRAIN).await?)
}

/// Makes HTTP options that follow the configuration; `known` is the token in force and who is let in with it.
fn following(reader: ConfigReader, known: (TokenConfig, Access), address: SocketAddr) -> HttpSource {
    let known = Mutex::new(known);
    HttpSource::following(move |config| {
        let mut known = known.lock().unpoisoned();
        if known.0 != config.http.token {
            match token_access(&reader, config, address) {
                Ok((access, _)) => *known = (config.http.token.clone(), access),
                Err(error) => tracing::error!("the access token was not changed: {}", error.message()),
            }
        }
        let own = (!address.ip().is_unspecified()).then(|| address.ip().to_string());
        let hosts = config.http.allowed_hosts.iter().cloned().chain(own);
        let origins = config.http.allowed_origins.iter().cloned();
        let access = known.1.clone().allow_hosts(hosts).allow_origins(origins);
        HttpOptions { access, max_body: config.http.max_body, connections: config.http.connections }
    })
}

/// How somebody who reads what is printed gets in.
#[cfg_attr(not(feature = "web"), expect(dead_code, reason = "there is no page to open"))]
enum Key {
    /// There is no lock.
    None,
    /// With this token, which may be shown here.
    Shown(String),
    /// With a token that is not to be shown here.
    Hidden,
}

/// Returns the address of the page, as it can be opened. The token stands behind the `#`, which no browser sends, and
/// the page takes it out of the address bar at once.
#[cfg(feature = "web")]
fn page(address: SocketAddr, key: &Key) -> String {
    let here = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    let page = format!("http://{}/ui/", SocketAddr::new(here, address.port()));
    match key {
        Key::Shown(token) => format!("{page}#token={token}"),
        Key::None => page,
        Key::Hidden => format!("{page} (it asks for the token)"),
    }
}

/// Reads or makes the token that the configuration wants.
fn token_access(
    reader: &ConfigReader,
    config: &Config,
    address: SocketAddr,
) -> Result<(Access, Key), CliError> {
    Ok(match &config.http.token {
        TokenConfig::Value(token) => (Access::with_token(token.expose()), Key::Hidden),
        TokenConfig::None => {
            tracing::warn!(
                "the configuration asks for no token: whoever reaches {address} can use every tool"
            );
            (Access::default(), Key::None)
        }
        TokenConfig::Auto => {
            let folder = reader.environment().state_folder(config);
            let token = token::read_or_make(folder.as_deref())?;
            // Shown once, when it is made; after that the file has it.
            note(&match &token.file {
                Some(file) if token.is_new => format!("token: {} (kept in {})", token.value, file.display()),
                Some(file) => format!("token: in {}", file.display()),
                None => format!("token: {} (not saved: no home directory)", token.value),
            });
            // A file of ours changes nothing about a project that the user trusts.
            if let Some(folder) = folder.filter(|_| token.is_new) {
                reader.trust().add_token(&folder)?;
            }
            let access = Access::with_token(&token.value);
            // A person at a terminal gets an address that opens; what is written to a file or a journal stays there, so
            // the token is not repeated.
            let is_shown = token.is_new || std::io::stderr().is_terminal();
            (access, if is_shown { Key::Shown(token.value) } else { Key::Hidden })
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
    tracing::info!("stopping: calls under way may end first");
    stop.cancel();
}

async fn reload_on_signal(gateway: Gateway, reader: ConfigReader) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    while hangup.recv().await.is_some() {
        let reloaded = reader.reload().and_then(|config| {
            warn(&config);
            gateway.reload(config).map_err(CliError::from)
        });
        if let Err(error) = reloaded {
            tracing::error!("the old configuration stays in force: {}", error.advice());
        }
    }
}
