//! The configuration of an upstream, and the checks that reject an invalid one before anything is started.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use indexmap::IndexMap;
use onetool_core::{NameError, ToolName};
use url::{Host, Url};

/// How to reach one upstream server, with its timeouts and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// The name of the server and of its pack.
    pub name: String,
    /// Whether to connect to it.
    pub enabled: bool,
    /// How to reach it.
    pub transport: Transport,
    /// Timeout for one call.
    pub timeout: Duration,
    /// Timeout for connecting, and for each page of a list.
    pub connect_timeout: Duration,
    /// Delays, grace periods and failure thresholds.
    pub timing: Timing,
    /// How much the upstream may send.
    pub limits: Limits,
}

/// How to reach an upstream.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// Start a child process and talk to it over its standard input and output.
    Stdio {
        /// The program: a path, or a name to look up in the child's `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables, in addition to the inherited ones.
        env: IndexMap<String, String>,
        /// Its working directory; ours by default.
        directory: Option<PathBuf>,
    },
    /// Connect over streamable HTTP.
    Http {
        /// The URL of the MCP endpoint.
        url: Url,
        /// Headers to send with every request, for example a bearer token.
        headers: IndexMap<String, String>,
    },
}

/// Delays, grace periods and failure thresholds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Maximum delay before the first retry; it doubles with every retry. The actual delay is random up to that.
    pub backoff_first: Duration,
    /// Upper bound of the maximum delay.
    pub backoff_max: Duration,
    /// Number of failures of a child process within [`Timing::crash_window`] that count as a crash loop.
    pub crash_limit: usize,
    /// The period in which failures are counted.
    pub crash_window: Duration,
    /// Number of consecutive failed calls that open the circuit breaker.
    pub breaker_failures: u32,
    /// How long the circuit breaker stays open before it admits a probe call.
    pub breaker_pause: Duration,
    /// How long to collect further changes before a changed list is fetched again.
    pub debounce: Duration,
    /// How long a child may take to exit after its input is closed, and again after SIGTERM.
    pub stop_grace: Duration,
    /// Minimum delay after giving up on an upstream before a call triggers a new attempt.
    pub retry_pause: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_secs(30),
            crash_limit: 8,
            crash_window: Duration::from_mins(2),
            breaker_failures: 5,
            breaker_pause: Duration::from_secs(10),
            debounce: Duration::from_millis(100),
            stop_grace: Duration::from_millis(500),
            retry_pause: Duration::from_mins(1),
        }
    }
}

/// How much an upstream may send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of a message in bytes.
    pub message: usize,
    /// Maximum number of pages of a list.
    pub pages: usize,
    /// Maximum number of items of a list.
    pub items: usize,
    /// Maximum number of consecutive lines on standard output that are not messages.
    pub invalid_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 * 1024 * 1024, pages: 1000, items: 20_000, invalid_lines: 1000 }
    }
}

/// An invalid configuration, rejected before anything is started or sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is not a valid pack name.
    #[error("server name '{name}' is not a valid pack name")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        #[source]
        source: NameError,
    },
    /// The name contains a dot, which separates pack and tool.
    #[error("server name '{name}' contains a dot; use '_' or '-' instead")]
    Dot {
        /// The name.
        name: String,
    },
    /// The command is empty.
    #[error("server '{name}' has an empty command")]
    EmptyCommand {
        /// The server.
        name: String,
    },
    /// An environment variable that cannot be passed to a process.
    #[error("server '{name}': environment variable '{variable}' has an invalid name or value")]
    Variable {
        /// The server.
        name: String,
        /// The variable.
        variable: String,
    },
    /// The URL is not an HTTP URL.
    #[error("server '{name}': unsupported URL scheme '{scheme}'; use 'https' or 'http'")]
    Scheme {
        /// The server.
        name: String,
        /// The scheme of the URL.
        scheme: String,
    },
    /// A header that is not valid HTTP, or that the protocol sets itself.
    #[error("server '{name}': header '{header}' is invalid or reserved; check its name and value")]
    Header {
        /// The server.
        name: String,
        /// The header.
        header: String,
    },
    /// Credentials would be sent unencrypted.
    #[error("server '{name}': credentials ({what}) would be sent unencrypted to {host}; use https")]
    PlainCredentials {
        /// The server.
        name: String,
        /// Where the credentials are, for example in a header.
        what: String,
        /// The host they would be sent to.
        host: String,
    },
}

/// Headers that the protocol sets itself.
const RESERVED_HEADERS: [&str; 4] = ["accept", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

/// Words in the name of a header or query parameter that mark it as a credential.
const CREDENTIAL_WORDS: [&str; 8] =
    ["auth", "cookie", "token", "key", "secret", "password", "credential", "session"];

impl UpstreamConfig {
    /// Creates a configuration with the default timeouts: 60 s for a call, 60 s to connect.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            enabled: true,
            transport,
            timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_mins(1),
            timing: Timing::default(),
            limits: Limits::default(),
        }
    }

    /// Checks the configuration, which should be done when it is loaded.
    ///
    /// # Errors
    /// If a name, variable, header or the URL is invalid, or if credentials would be sent over plain http to another
    /// host.
    pub fn check(&self) -> Result<(), ConfigError> {
        let name = self.name.clone();
        if name.contains('.') {
            return Err(ConfigError::Dot { name });
        }
        if let Err(source) = ToolName::new(name.as_str()).check() {
            return Err(ConfigError::Name { name, source });
        }
        match &self.transport {
            Transport::Stdio { command, .. } if command.is_empty() => Err(ConfigError::EmptyCommand { name }),
            Transport::Stdio { env, .. } => {
                let is_invalid = |(key, value): &(&String, &String)| {
                    key.is_empty() || key.contains(['=', '\0']) || value.contains('\0')
                };
                match env.iter().find(is_invalid) {
                    Some((variable, _)) => Err(ConfigError::Variable { name, variable: variable.clone() }),
                    None => Ok(()),
                }
            }
            Transport::Http { url, headers } => check_http(name, url, headers),
        }
    }
}

fn check_http(name: String, url: &Url, headers: &IndexMap<String, String>) -> Result<(), ConfigError> {
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ConfigError::Scheme { name, scheme: url.scheme().to_owned() });
    }
    for (header, value) in headers {
        let is_reserved = RESERVED_HEADERS.iter().any(|name| header.eq_ignore_ascii_case(name));
        let is_valid =
            HeaderName::try_from(header.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok();
        if is_reserved || !is_valid {
            return Err(ConfigError::Header { name, header: header.clone() });
        }
    }
    if url.scheme() == "https" || is_loopback(url) {
        return Ok(());
    }
    match find_credentials(url, headers) {
        Some(what) => {
            let host = url.host_str().unwrap_or_default().to_owned();
            Err(ConfigError::PlainCredentials { name, what, host })
        }
        None => Ok(()),
    }
}

/// Returns where the credentials are, if there are any.
fn find_credentials(url: &Url, headers: &IndexMap<String, String>) -> Option<String> {
    let is_credential = |name: &str| {
        let name = name.to_ascii_lowercase();
        CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Some("user and password in the URL".into());
    }
    if let Some(header) = headers.keys().find(|name| is_credential(name)) {
        return Some(format!("header '{header}'"));
    }
    let parameter = url.query_pairs().find(|(name, _)| is_credential(name));
    parameter.map(|(name, _)| format!("query parameter '{name}'"))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Prints names only: arguments, values and queries may be secrets.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, directory } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys().collect::<Vec<_>>())
                .field("directory", directory)
                .finish(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("origin", &url.origin().ascii_serialization())
                .field("path", &url.path())
                .field("headers", &headers.keys().collect::<Vec<_>>())
                .finish(),
        }
    }
}
