//! Which tools may be called at all.

use onetool_core::ToolName;

/// Globs over canonical names: a tool has to match `allow` and must not match `deny`.
///
/// ```
/// use onetool::Policy;
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
        let any = |globs: &[String]| globs.iter().any(|glob| matches_glob(glob, name.as_str()));
        any(&self.allow) && !any(&self.deny)
    }
}

/// Matches `*` (anything) and `?` (one character), without backtracking more than one star.
fn matches_glob(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (g, t) = (g + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (g, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_people_expect() {
        for (glob, text, expected) in [
            ("*", "a.b", true),
            ("github.delete_*", "github.delete_repo", true),
            ("github.delete_*", "github.create", false),
            ("*.read?", "x.read1", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxcxxb", false),
            ("", "", true),
        ] {
            assert_eq!(matches_glob(glob, text), expected, "{glob} {text}");
        }
    }
}
