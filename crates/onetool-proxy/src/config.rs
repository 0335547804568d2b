//! What is known of an upstream before it is connected, and what is refused already then.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use indexmap::IndexMap;
use onetool_core::{NameError, ToolName};
use url::{Host, Url};

/// How to reach one upstream server, and how much patience to have with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamConfig {
    /// Its name, which is the name of its pack.
    pub name: String,
    /// Whether it is to be connected at all.
    pub enabled: bool,
    /// How to reach it.
    pub transport: Transport,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long connecting and the first listing may take together.
    pub connect_timeout: Duration,
    /// The rhythm of everything that waits or tries again.
    pub timing: Timing,
    /// What an upstream may at most send.
    pub limits: Limits,
}

/// How to reach an upstream.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// Start a child process and speak over its standard input and output.
    Stdio {
        /// The program: a path, or a name that is looked up in the child's `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its own environment variables.
        env: IndexMap<String, String>,
        /// The directory it runs in; none means ours.
        directory: Option<PathBuf>,
    },
    /// Speak streamable HTTP.
    Http {
        /// The address of the MCP endpoint.
        url: Url,
        /// Headers of every request; a bearer token is one of them.
        headers: IndexMap<String, String>,
    },
}

/// The rhythm of everything that waits or tries again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Longest pause before the first new attempt; it doubles from attempt to attempt. The real pause is random below it.
    pub backoff_first: Duration,
    /// Longest pause of all.
    pub backoff_max: Duration,
    /// How many failures of a child process within [`Timing::crash_window`] are a crash loop.
    pub crash_limit: usize,
    /// The time within which failures are counted.
    pub crash_window: Duration,
    /// How many calls in a row fail before the breaker opens.
    pub breaker_failures: u32,
    /// How long the breaker stays open before one call may try.
    pub breaker_pause: Duration,
    /// How long to wait for further changes before a changed list is read again.
    pub debounce: Duration,
    /// How long a child may take to end by itself, and again after SIGTERM.
    pub stop_grace: Duration,
    /// How long after an upstream was given up, or tried again for a call, a call tries it again.
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

/// What an upstream may at most send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Longest message in bytes.
    pub message: usize,
    /// Most pages of one list.
    pub pages: usize,
    /// Most items of one list.
    pub items: usize,
    /// Most lines in a row on standard output that are no message.
    pub garbage_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 * 1024 * 1024, pages: 1000, items: 20_000, garbage_lines: 1000 }
    }
}

/// A configuration that is refused before anything is started or sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name cannot be the name of a pack.
    #[error("server name '{name}' cannot name a pack")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        #[source]
        source: NameError,
    },
    /// The name holds a dot, which separates pack and tool.
    #[error("server name '{name}' holds a dot; use '_' or '-' instead")]
    Dot {
        /// The name.
        name: String,
    },
    /// There is no program to start.
    #[error("server '{name}' has an empty command")]
    EmptyCommand {
        /// The server.
        name: String,
    },
    /// A variable that no process can be given.
    #[error("server '{name}': '{variable}' cannot be an environment variable")]
    Variable {
        /// The server.
        name: String,
        /// The variable.
        variable: String,
    },
    /// The URL is not one of HTTP.
    #[error("server '{name}': the URL begins with '{scheme}:', use 'https:' or 'http:'")]
    Scheme {
        /// The server.
        name: String,
        /// What the URL begins with.
        scheme: String,
    },
    /// A header that cannot be sent, or that the protocol sets itself.
    #[error("server '{name}': header '{header}' cannot be sent; check its name and value")]
    Header {
        /// The server.
        name: String,
        /// The header.
        header: String,
    },
    /// Credentials would travel unencrypted.
    #[error("server '{name}': credentials ({what}) would travel unencrypted to {host}; use https")]
    PlainCredentials {
        /// The server.
        name: String,
        /// Where the credentials stand.
        what: String,
        /// Where they would go.
        host: String,
    },
}

/// Headers that the protocol sets; one of ours would contradict it.
const RESERVED_HEADERS: [&str; 4] = ["accept", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

/// Words that make a header or a query parameter a credential.
const CREDENTIAL_WORDS: [&str; 8] =
    ["auth", "cookie", "token", "key", "secret", "password", "credential", "session"];

impl UpstreamConfig {
    /// Makes the configuration of an upstream with the usual patience: 60 s a call, 30 s to connect.
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

    /// Tells whether the configuration can be used; to be asked when it is loaded.
    ///
    /// # Errors
    /// When a name, a header or the URL cannot be used, or credentials would travel over plain http to another host.
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
                let is_bad = |(key, value): &(&String, &String)| {
                    key.is_empty() || key.contains(['=', '\0']) || value.contains('\0')
                };
                match env.iter().find(is_bad) {
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
        let is_reserved = RESERVED_HEADERS.iter().any(|it| header.eq_ignore_ascii_case(it));
        let can_be_sent =
            HeaderName::try_from(header.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok();
        if is_reserved || !can_be_sent {
            return Err(ConfigError::Header { name, header: header.clone() });
        }
    }
    if url.scheme() == "https" || is_loopback(url) {
        return Ok(());
    }
    match credentials(url, headers) {
        Some(what) => {
            let host = url.host_str().unwrap_or_default().to_owned();
            Err(ConfigError::PlainCredentials { name, what, host })
        }
        None => Ok(()),
    }
}

/// Says where credentials stand, if there are any.
fn credentials(url: &Url, headers: &IndexMap<String, String>) -> Option<String> {
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

/// Shows names only: arguments, values and queries may be secrets.
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
