//! Errors for people: what happened, where, and what to do next.

use std::fmt;
use std::process::ExitCode;

use onetool::GatewayError;
use onetool::config::{ConfigError, Location};

/// An error with hints, and the exit code that it ends the process with.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    /// More about it, for a terminal alone.
    details: String,
    hints: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The operation failed.
    Failed,
    /// The command line asks for something that there is not.
    Usage,
    /// Nobody reads the output any more, which is no failure.
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

    /// Adds lines that are shown on a terminal, and neither logged nor told to an agent.
    pub(crate) fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    /// Returns the message with what to do next, on one line.
    pub(crate) fn advice(&self) -> String {
        [&self.message].into_iter().chain(&self.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns the message alone, for a log that has its own words for the rest.
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

    /// Writes the error for a person; nothing where nobody reads.
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

fn placed(at: Option<&Location>, error: &dyn std::error::Error) -> String {
    let mut text = at.map_or_else(String::new, |at| format!("{at}: "));
    text.push_str(&error.to_string());
    let mut cause = error.source();
    while let Some(error) = cause {
        let further = error.to_string();
        // Some errors write their cause into their own text already.
        if !text.contains(&further) {
            text = format!("{text}: {further}");
        }
        cause = error.source();
    }
    text
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let failed = Self::failed(placed(error.location(), &error));
        let is_about_keys = matches!(
            error,
            ConfigError::UnknownKey { .. } | ConfigError::MissingKey { .. } | ConfigError::Type { .. }
        );
        let about_keys = is_about_keys.then(|| "`onetool schema` describes every key".into());
        error.hint().or(about_keys).into_iter().fold(failed, Self::hinted)
    }
}

impl From<GatewayError> for CliError {
    fn from(error: GatewayError) -> Self {
        Self::failed(placed(error.location(), &error))
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        let kind =
            if error.kind() == std::io::ErrorKind::BrokenPipe { Kind::BrokenPipe } else { Kind::Failed };
        Self { kind, ..Self::failed(error.to_string()) }
    }
}
