//! Which tools may be called at all.

use onetool_core::{ToolName, matches_wildcard};

/// Globs over canonical names: a tool has to match `allow` and must not match `deny`.
///
/// ```
/// use onetool_server::Policy;
///
/// let policy = Policy { allow: vec!["*".into()], deny: vec!["github.delete_*".into()] };
/// assert!(!policy.allows(&"github.delete_repo".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// What may be called.
    pub allow: Vec<String>,
    /// What may not be called all the same.
    pub deny: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { allow: vec!["*".into()], deny: Vec::new() }
    }
}

impl Policy {
    /// Tells whether a tool may be called.
    pub fn allows(&self, name: &ToolName) -> bool {
        let any = |globs: &[String]| globs.iter().any(|glob| matches_wildcard(glob, name.as_str(), None));
        any(&self.allow) && !any(&self.deny)
    }
}
