//! Sources that a person switched on or off.

use std::collections::HashMap;
use std::sync::Arc;

/// Whether each source that someone switched is on. Other sources are as configured.
pub type SourceSwitches = HashMap<Arc<str>, bool>;
