//! A pack that was read from a Python file.

use std::path::PathBuf;

use onetool_core::Pack;

/// A pack that was read from a Python file.
pub struct PythonPack {
    /// The file.
    pub path: PathBuf,
    /// The pack.
    pub pack: Pack,
}
