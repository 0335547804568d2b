//! Decides which tools may be called.

use serde::{Deserialize, Serialize};

use crate::name::ToolName;
use crate::wildcard::matches_wildcard;

/// What a policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The call may happen.
    Allow,
    /// A person must approve the call first.
    Ask {
        /// Why, for the person and the model.
        reason: String,
    },
    /// The call must not happen.
    Deny {
        /// Why, for the model.
        reason: String,
    },
}

/// Globs over canonical tool names: a tool must match `allow` and must not match `deny`.
///
/// ```
/// use onetool_core::{Policy, Verdict};
///
/// let policy = Policy { allow: vec!["*".into()], deny: vec!["github.delete_*".into()] };
/// assert_eq!(policy.verdict(&"github.list_issues".into()), Verdict::Allow);
/// assert!(matches!(policy.verdict(&"github.delete_repo".into()), Verdict::Deny { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Globs for the canonical names of tools that may be called.
    pub allow: Vec<String>,
    /// Globs for the canonical names of tools that may not be called, even if `allow` matches them.
    pub deny: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { allow: vec!["*".into()], deny: Vec::new() }
    }
}

impl Policy {
    /// Decides about a tool.
    pub fn verdict(&self, name: &ToolName) -> Verdict {
        let matching =
            |globs: &[String]| globs.iter().find(|glob| matches_wildcard(glob, name.as_str(), None)).cloned();
        if let Some(glob) = matching(&self.deny) {
            return Verdict::Deny { reason: format!("policy.deny contains '{glob}'") };
        }
        match matching(&self.allow) {
            Some(_) => Verdict::Allow,
            None => Verdict::Deny { reason: "no pattern in policy.allow matches it".to_owned() },
        }
    }

    /// Returns whether callers may know about a tool: whether the verdict is anything but "deny".
    pub fn shows(&self, name: &ToolName) -> bool {
        !matches!(self.verdict(name), Verdict::Deny { .. })
    }
}
