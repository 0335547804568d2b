//! Tool names: the canonical spelling `pack.tool` and the flat one that MCP clients see.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::NameError;

/// Maximum length of a flat name; several clients reject a tool list with a longer one.
pub const FLAT_NAME_MAX: usize = 64;

const CANONICAL_MAX: usize = 512;

/// The name of a tool in its canonical spelling: `pack.tool`, or a bare `tool` without a pack.
///
/// The pack is the part before the first dot; the rest may contain more dots.
///
/// ```
/// use onetool_core::ToolName;
///
/// let name = ToolName::new("brave.web_search");
/// assert_eq!((name.pack(), name.tool()), (Some("brave"), "web_search"));
/// assert_eq!(name.flat(), "brave_web_search");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Creates a name from its canonical spelling. It may be invalid, see [`ToolName::check`].
    pub fn new(canonical: impl Into<Arc<str>>) -> Self {
        Self(canonical.into())
    }

    /// Creates the name of `tool` in `pack`, or a bare name if `pack` is empty.
    pub fn in_pack(pack: &str, tool: &str) -> Self {
        if pack.is_empty() { Self::new(tool) } else { Self::new(format!("{pack}.{tool}")) }
    }

    /// Returns the canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the pack, if the name has one.
    pub fn pack(&self) -> Option<&str> {
        self.0.split_once('.').map(|(pack, _)| pack)
    }

    /// Returns the name inside the pack.
    pub fn tool(&self) -> &str {
        self.0.split_once('.').map_or(&*self.0, |(_, tool)| tool)
    }

    /// Returns the spelling that every MCP client accepts: ASCII letters, digits, `_` and `-`, at most 64 characters.
    ///
    /// A longer name is truncated and ends with a hash of the full name, so it is the same on every start. Two names can
    /// have the same flat spelling; the catalog then adds a suffix to the later one.
    pub fn flat(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let flat: String = self.0.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        if flat.len() <= FLAT_NAME_MAX {
            return flat;
        }
        format!("{}_{:08x}", &flat[..FLAT_NAME_MAX - 9], fnv1a(self.0.as_bytes()))
    }

    /// Checks whether the name can be registered.
    ///
    /// # Errors
    /// If the name or its pack is empty, or the name is too long or contains whitespace or control characters.
    pub fn check(&self) -> Result<(), NameError> {
        if self.tool().is_empty() || self.pack().is_some_and(str::is_empty) {
            return Err(NameError::Empty { name: self.0.to_string() });
        }
        if self.0.len() > CANONICAL_MAX {
            return Err(NameError::TooLong { length: self.0.len(), max: CANONICAL_MAX });
        }
        match self.0.chars().find(|c| c.is_whitespace() || c.is_control()) {
            Some(character) => Err(NameError::Character { name: self.0.to_string(), character }),
            None => Ok(()),
        }
    }
}

/// 32-bit FNV-1a: small, and unlike the standard hasher stable across releases.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Allows looking up a name in a map by a plain string.
impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ToolName {
    fn from(canonical: &str) -> Self {
        Self::new(canonical)
    }
}

impl From<String> for ToolName {
    fn from(canonical: String) -> Self {
        Self::new(canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n4_long_and_odd_names_get_a_stable_flat_spelling() {
        let odd = ToolName::new("github.issues/get-one");
        assert_eq!(odd.flat(), "github_issues_get-one");
        let long = ToolName::new(format!("pack.{}", "x".repeat(300)));
        assert_eq!(long.flat().len(), FLAT_NAME_MAX);
        assert_eq!(long.flat(), long.flat());
        let other = ToolName::new(format!("pack.{}y", "x".repeat(299)));
        assert_ne!(long.flat(), other.flat());
    }

    #[test]
    fn names_that_cannot_be_registered_say_why() {
        for bad in ["", ".", "pack.", ".tool", "a b", "a\nb"] {
            assert!(ToolName::new(bad).check().is_err(), "{bad:?}");
        }
        ToolName::new("pack.a.b").check().unwrap();
    }
}
