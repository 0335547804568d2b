//! The environment variables of child processes.

use std::ffi::{OsStr, OsString};
use std::fmt;

use indexmap::IndexMap;

/// The variables that child processes inherit from the gateway: `PATH`, `HOME` and the locale.
///
/// Collecting into this drops every other variable, so a child never sees the gateway's secrets:
///
/// ```
/// use onetool_proxy::ChildEnvironment;
///
/// let environment = ChildEnvironment::from([("PATH", "/usr/bin:/bin"), ("API_TOKEN", "secret")]);
/// assert_eq!(environment.get("PATH"), Some("/usr/bin:/bin".as_ref()));
/// assert_eq!(environment.get("API_TOKEN"), None);
/// ```
#[derive(Clone, Default)]
pub struct ChildEnvironment(IndexMap<OsString, OsString>);

impl ChildEnvironment {
    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns all variables of one child: the inherited ones, and its own, which take precedence.
    pub fn with_own<N, V>(&self, own: impl IntoIterator<Item = (N, V)>) -> IndexMap<OsString, OsString>
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let mut all = self.0.clone();
        all.extend(own.into_iter().map(|(name, value)| (name.into(), value.into())));
        all
    }
}

fn is_inherited(name: &OsStr) -> bool {
    // ONETOOL_GATEWAYS prevents a gateway from starting itself through its own servers.
    name.to_str().is_some_and(|name| {
        matches!(name, "PATH" | "HOME" | "LANG" | "ONETOOL_GATEWAYS") || name.starts_with("LC_")
    })
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for ChildEnvironment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self(variables.filter(|(name, _)| is_inherited(name)).collect())
    }
}

impl<N: Into<OsString>, V: Into<OsString>, const COUNT: usize> From<[(N, V); COUNT]> for ChildEnvironment {
    fn from(variables: [(N, V); COUNT]) -> Self {
        variables.into_iter().collect()
    }
}

impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_childs_own_variables_take_precedence_and_all_others_are_dropped() {
        let inherited = ChildEnvironment::from([
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LANG", "C"),
            ("LC_TIME", "C"),
            ("LANGUAGE", "de"),
            ("LD_PRELOAD", "x.so"),
            ("ONETOOL_GATEWAYS", "/a"),
            ("ONETOOL_LOG", "debug"),
        ]);
        let all = inherited.with_own([("TOKEN", "t"), ("LANG", "de")]);
        let all: Vec<(&str, &str)> =
            all.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        let expected = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LANG", "de"),
            ("LC_TIME", "C"),
            ("ONETOOL_GATEWAYS", "/a"),
            ("TOKEN", "t"),
        ];
        assert_eq!(all, expected);
    }
}
