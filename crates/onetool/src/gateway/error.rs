//! Errors in a configuration that prevent the gateway from using it.

use onetool_core::PackError;
use onetool_declared::DeclareError;
use onetool_run::shortcuts::AliasError;
use onetool_server::catalog::RegisterError;

use crate::config::Location;

/// A configuration that the gateway cannot use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// A declaration is invalid.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// A tool, resource or prompt cannot be registered.
    #[error("{error}")]
    Register {
        /// Where it is declared, if in a file.
        at: Option<Location>,
        /// The reason.
        error: RegisterError,
    },
    /// A file is not a valid pack.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// An alias has no valid target.
    #[error("{error}")]
    Alias {
        /// Where it is declared.
        at: Option<Location>,
        /// The reason.
        error: AliasError,
    },
}

impl GatewayError {
    /// Returns the location in the configuration, if there is one.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Pack(_) => None,
            Self::Declare(error) => Some(&error.at),
            Self::Register { at, .. } | Self::Alias { at, .. } => at.as_ref(),
        }
    }
}
