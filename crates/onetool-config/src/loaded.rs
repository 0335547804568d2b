//! The files that a configuration was read from.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A file that was read, with the hash of its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// The file.
    pub path: PathBuf,
    /// The hash of its contents.
    pub digest: FileDigest,
}

/// The SHA-256 hash of a file, written as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDigest([u8; 32]);

impl LoadedFile {
    /// Hashes the contents of a file.
    pub fn new(path: &Path, bytes: &[u8]) -> Self {
        Self { path: path.to_owned(), digest: FileDigest(Sha256::digest(bytes).into()) }
    }
}

impl fmt::Display for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
