//! What can be wrong with a configuration, and where.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use super::tree::{Location, Place};
use super::{KNOWN_VERSION, Redactor};

/// A configuration that cannot be used.
///
/// The text says what is wrong; [`ConfigError::location`] says where and [`ConfigError::hint`] what to do.
/// [`ConfigError::report`] has all three. Values of variables never show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The line that includes the file, if one does.
        at: Option<Location>,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file is not YAML, or goes beyond the limits.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
        /// Where.
        at: Location,
    },
    /// A file includes itself.
    #[error("include cycle: {}", chain.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" -> "))]
    Cycle {
        /// The files from the first to itself again.
        chain: Vec<PathBuf>,
        /// The line that closes the cycle.
        at: Location,
    },
    /// The file is written for a newer onetool.
    #[error("configuration version {found} needs a newer onetool (this one knows version {KNOWN_VERSION})")]
    Version {
        /// The version that the file asks for.
        found: u64,
        /// Where.
        at: Location,
    },
    /// A variable has no value.
    #[error("'{key}' needs ${{{name}}}, which stands neither in secrets.yaml nor in the environment")]
    Variable {
        /// The variable.
        name: String,
        /// The path of keys to the value that needs it.
        key: String,
        /// Where.
        at: Location,
    },
    /// A key that does not exist.
    #[error("{}", unknown_key(key, section, suggestion.as_deref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// The path of keys to the map that holds it; empty at the top.
        section: String,
        /// The known key that looks most like it.
        suggestion: Option<&'static str>,
        /// Every known key.
        known: &'static [&'static str],
        /// Where.
        at: Location,
    },
    /// A key that has to be there.
    #[error("key '{key}' is missing in '{section}'")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The path of keys to the map that lacks it.
        section: String,
        /// Where that map begins.
        at: Location,
    },
    /// A value of the wrong type.
    #[error("'{key}' has to be {expected}, not {found}")]
    Type {
        /// The path of keys to the value.
        key: String,
        /// What would fit.
        expected: String,
        /// What stands there.
        found: &'static str,
        /// Where.
        at: Location,
    },
    /// A value that makes no sense.
    #[error("'{key}': {message}")]
    Invalid {
        /// The path of keys to the value.
        key: String,
        /// What is wrong.
        message: String,
        /// Where.
        at: Location,
    },
    /// Two tools, resources or prompts of one name.
    #[error("{kind} '{name}' is defined twice, first at {first}")]
    Twice {
        /// What it is.
        kind: &'static str,
        /// The name or URI.
        name: String,
        /// Where the first one is.
        first: Box<Location>,
        /// Where the second one is.
        at: Location,
    },
}

impl ConfigError {
    pub(super) fn invalid(place: &Place<'_>, message: impl Into<String>) -> Self {
        Self::Invalid { key: place.path.clone(), message: message.into(), at: place.at.clone() }
    }

    /// Returns where the error is; `None` if the configuration file itself cannot be read.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Read { at, .. } => at.as_ref(),
            Self::Syntax { at, .. }
            | Self::Cycle { at, .. }
            | Self::Version { at, .. }
            | Self::Variable { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::MissingKey { at, .. }
            | Self::Type { at, .. }
            | Self::Invalid { at, .. }
            | Self::Twice { at, .. } => Some(at),
        }
    }

    /// Returns what to do about it, where there is more to say than the error itself does.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { hint, .. } => hint.clone(),
            Self::Variable { name, .. } => Some(format!("set it, or give a default: ${{{name}:-default}}")),
            Self::UnknownKey { known, suggestion: None, .. } if !known.is_empty() => {
                Some(format!("known keys: {}", known.join(", ")))
            }
            _ => None,
        }
    }

    /// Writes the whole of it: `error at /path/onetool.yaml:12: message`, and the hint on a line of its own.
    pub fn report(&self) -> String {
        let place = self.location().map_or_else(String::new, |at| format!(" at {at}"));
        let cause = self.source().map_or_else(String::new, |cause| format!(": {cause}"));
        let hint = self.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("error{place}: {self}{cause}{hint}")
    }

    /// Takes the values of variables out of the texts that may quote them.
    pub(super) fn scrubbed(mut self, redactor: &Redactor) -> Self {
        let texts: &mut [&mut String] = match &mut self {
            Self::Invalid { message, .. } => &mut [message],
            Self::Twice { name, .. } => &mut [name],
            // All else holds keys, paths and our own words, which variables cannot reach.
            _ => &mut [],
        };
        for text in texts {
            **text = redactor.scrub(text).into_owned();
        }
        self
    }
}

fn unknown_key(key: &str, section: &str, suggestion: Option<&str>) -> String {
    let place = if section.is_empty() { String::new() } else { format!(" in '{section}'") };
    let suggestion = suggestion.map_or_else(String::new, |it| format!(", did you mean '{it}'?"));
    format!("unknown key '{key}'{place}{suggestion}")
}
