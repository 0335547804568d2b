//! Errors with hints and exit codes.

use std::fmt;
use std::process::ExitCode;

use onetool::GatewayError;
use onetool::config::{ConfigError, Location};

/// An error with hints, which determines the exit code.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    /// Lines after the message, shown only on stderr.
    details: String,
    hints: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The operation failed.
    Failed,
    /// The command line is invalid.
    Usage,
    /// The reader of stdout is gone, which is not a failure.
    BrokenPipe,
}

impl CliError {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, message: message.into(), details: String::new(), hints: Vec::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::failed(message) }
    }

    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds lines that are shown on stderr, but never logged or sent to an agent.
    pub(crate) fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    /// Returns the message and the hints on one line.
    pub(crate) fn message_with_hints(&self) -> String {
        [&self.message].into_iter().chain(&self.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns the message without details and hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Failed => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
            Kind::BrokenPipe => ExitCode::SUCCESS,
        }
    }

    /// Prints the error to stderr, unless it is a broken pipe.
    pub(crate) fn report(&self) {
        if !matches!(self.kind, Kind::BrokenPipe) {
            crate::output::note(&self.to_string());
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}{}", self.message, self.details)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Formats an error with its location and causes.
fn describe(location: Option<&Location>, error: &dyn std::error::Error) -> String {
    let text = onetool::error_chain(error);
    match location {
        Some(location) => format!("{location}: {text}"),
        None => text,
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let failure = Self::failed(describe(error.location(), &error));
        let is_about_keys = matches!(
            error,
            ConfigError::UnknownKey { .. } | ConfigError::MissingKey { .. } | ConfigError::Type { .. }
        );
        let schema_hint = is_about_keys.then(|| "`onetool schema` describes every key".into());
        error.hint().or(schema_hint).into_iter().fold(failure, Self::hinted)
    }
}

impl From<GatewayError> for CliError {
    fn from(error: GatewayError) -> Self {
        Self::failed(describe(error.location(), &error))
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        let kind =
            if error.kind() == std::io::ErrorKind::BrokenPipe { Kind::BrokenPipe } else { Kind::Failed };
        Self { kind, ..Self::failed(error.to_string()) }
    }
}
