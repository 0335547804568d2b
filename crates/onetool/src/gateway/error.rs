//! Why a configuration cannot be served.

use crate::catalog::RegisterError;
use crate::config::Location;
use crate::declared::DeclareError;
use crate::packs::PackError;
use crate::shortcuts::AliasError;

/// A configuration that cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// A declaration cannot be carried out.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// A declaration cannot be registered.
    #[error("{source}")]
    Register {
        /// Where it stands, if it stands in a file.
        at: Option<Location>,
        /// Why.
        source: RegisterError,
    },
    /// A file is no pack.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// An alias leads nowhere.
    #[error("{source}")]
    Alias {
        /// Where it stands.
        at: Option<Location>,
        /// Why.
        source: AliasError,
    },
}

impl GatewayError {
    /// Returns the place in the configuration, if there is one.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Pack(_) => None,
            Self::Declare(error) => Some(&error.at),
            Self::Register { at, .. } | Self::Alias { at, .. } => at.as_ref(),
        }
    }
}
