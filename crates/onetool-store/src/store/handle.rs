//! The handles of kept results.

use std::fmt;

use onetool_core::{random, shorten};
use serde::{Deserialize, Serialize};

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BYTES: usize = 10;
const MAX_CHARACTERS: usize = 64;

/// The handle of a kept result: 16 letters and digits that nobody can guess.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResultHandle(String);

impl ResultHandle {
    /// Creates a new handle.
    pub fn random() -> Self {
        let bits = random::bytes::<BYTES>().iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let letter = |position: usize| char::from(ALPHABET[(bits >> (5 * position) & 31) as usize]);
        Self((0..BYTES * 8 / 5).map(letter).collect())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ResultHandle {
    fn from(text: &str) -> Self {
        // No handle is longer, and errors repeat it.
        Self(shorten(text.trim(), MAX_CHARACTERS).into_owned())
    }
}

impl From<String> for ResultHandle {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}
