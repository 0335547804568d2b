//! Configuration errors, each with its file and line.

use std::io;
use std::path::PathBuf;

use onetool_core::{Redactor, error_chain, similar_names};

use crate::tree::Location;

/// The newest version of the format that this onetool reads.
pub(crate) const KNOWN_VERSION: u64 = 1;

/// An invalid configuration.
///
/// The message says what is wrong, [`ConfigError::location`] where, and [`ConfigError::hint`] how to fix it;
/// [`ConfigError::report`] combines them. The values of variables never appear in it.
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
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file is not YAML, or exceeds a limit.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// How to fix it.
        hint: Option<String>,
        /// Where.
        at: Location,
    },
    /// A file includes itself.
    #[error("include cycle: {}", chain.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" -> "))]
    Cycle {
        /// The files of the cycle; the last one is the first one again.
        chain: Vec<PathBuf>,
        /// The line that closes the cycle.
        at: Location,
    },
    /// The file requires a newer onetool.
    #[error(
        "configuration version {found} requires a newer onetool (this one supports version {KNOWN_VERSION})"
    )]
    Version {
        /// The version of the file.
        found: u64,
        /// Where.
        at: Location,
    },
    /// A variable is not set.
    #[error("'{key}' requires ${{{name}}}, which is not set in secrets.yaml or the environment")]
    Variable {
        /// The variable.
        name: String,
        /// The path of the key that uses it.
        key: String,
        /// Where.
        at: Location,
    },
    /// An unknown key.
    #[error("{}", unknown_key(key, section, suggestion.as_deref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// The path of the map that contains it; empty at the top level.
        section: String,
        /// The most similar known key.
        suggestion: Option<String>,
        /// Every known key.
        known: Vec<String>,
        /// Where.
        at: Location,
    },
    /// A missing key.
    #[error("missing key '{key}' in '{section}'")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The path of the map that requires it.
        section: String,
        /// Where that map begins.
        at: Location,
    },
    /// A value of the wrong type.
    #[error("'{key}' must be {expected}, not {found}")]
    Type {
        /// The path of the key.
        key: String,
        /// The expected type.
        expected: String,
        /// The type that was found.
        found: &'static str,
        /// Where.
        at: Location,
    },
    /// A value that breaks a rule.
    #[error("'{key}': {message}")]
    Invalid {
        /// The path of the key.
        key: String,
        /// What is wrong.
        message: String,
        /// Where.
        at: Location,
    },
    /// Two tools, resources or prompts with the same name.
    #[error("duplicate {kind} '{name}', first defined at {first}")]
    Duplicate {
        /// The kind: tool, resource or prompt.
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
    pub(crate) fn unknown_key(key: &str, section: &str, known: &[&str], at: Location) -> Self {
        Self::UnknownKey {
            key: key.to_owned(),
            section: section.to_owned(),
            suggestion: similar_names(key, known.iter().copied()).first().map(|it| (*it).to_owned()),
            known: known.iter().map(|it| (*it).to_owned()).collect(),
            at,
        }
    }

    /// Returns where the error is; `None` if it is the main file that cannot be read.
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
            | Self::Duplicate { at, .. } => Some(at),
        }
    }

    /// Returns how to fix the error, if the message does not say so.
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

    /// Formats the error with its location, cause and hint: `error at /path/onetool.yaml:12: message`, then `hint: …`
    /// on a second line.
    pub fn report(&self) -> String {
        let place = self.location().map_or_else(String::new, |at| format!(" at {at}"));
        let hint = self.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("error{place}: {}{hint}", error_chain(self))
    }

    /// Removes the values of variables from the message.
    #[must_use]
    pub fn scrubbed(mut self, redactor: &Redactor) -> Self {
        let texts: &mut [&mut String] = match &mut self {
            Self::Invalid { message, .. } => &mut [message],
            Self::Duplicate { name, .. } => &mut [name],
            // The other messages contain only keys, paths and fixed text, and variables are not expanded in keys.
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
