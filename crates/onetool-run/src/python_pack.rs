//! The pack that a Python file defines.

use std::path::PathBuf;

use onetool_core::Pack;

/// A pack loaded from a Python file.
pub struct PythonPack {
    /// The file.
    pub path: PathBuf,
    /// The pack.
    pub pack: Pack,
}
