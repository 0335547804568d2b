//! The keys that seal what clients carry from one request to the next.

use std::fmt;

use crate::random;

/// Keys of 32 bytes, the newest first: the newest one seals, and every one opens.
///
/// Servers that share their state have the same keys. To replace a key, add the new one first, and remove the old one
/// when everything that it sealed has expired.
pub struct SealingKeys(Vec<[u8; 32]>);

impl SealingKeys {
    /// Creates one random key.
    pub fn random() -> Self {
        Self(vec![random::bytes()])
    }

    /// Creates keys from bytes. `newest` seals; `older` ones only open.
    pub fn new(newest: [u8; 32], older: impl IntoIterator<Item = [u8; 32]>) -> Self {
        Self(std::iter::once(newest).chain(older).collect())
    }

    /// Returns the keys, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.0.iter()
    }
}

impl fmt::Debug for SealingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKeys").field("count", &self.0.len()).finish_non_exhaustive()
    }
}
