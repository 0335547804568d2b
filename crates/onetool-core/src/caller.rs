//! The caller of a tool.

use std::sync::Arc;

/// The caller: the owner of the access token, and the profile in the URL.
///
/// ```
/// use onetool_core::Caller;
///
/// let caller = Caller::default();
/// assert_eq!((&*caller.principal, &*caller.profile), ("local", "default"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of the access token; `local` where the transport needs none (stdio, in process).
    pub principal: Arc<str>,
    /// The profile; `default` unless the URL specifies another.
    pub profile: Arc<str>,
}

impl Default for Caller {
    fn default() -> Self {
        Self { principal: "local".into(), profile: "default".into() }
    }
}
