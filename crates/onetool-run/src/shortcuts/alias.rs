//! Aliases: other names for tools or for other aliases, resolved as names and never by text substitution.

use indexmap::IndexMap;
use onetool_core::{ToolName, similar_names};

use onetool_server::catalog::UnknownName;

/// An invalid alias.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasError {
    /// An alias refers to itself.
    #[error("alias cycle: {}", chain.join(" -> "))]
    Cycle {
        /// The alias.
        alias: String,
        /// The names in the cycle; the first one is repeated at the end.
        chain: Vec<String>,
    },
    /// The target of an alias does not exist.
    #[error("invalid alias '{alias}': {unknown}")]
    Unknown {
        /// The alias whose target is missing.
        alias: String,
        /// The target, with similar names.
        unknown: Box<UnknownName>,
    },
    /// A tool already has the name.
    #[error("alias '{alias}' is the name of a tool; choose another name")]
    Taken {
        /// The alias.
        alias: String,
    },
}

impl AliasError {
    /// Returns the invalid alias.
    pub fn alias(&self) -> &str {
        match self {
            Self::Cycle { alias, .. } | Self::Unknown { alias, .. } | Self::Taken { alias } => alias,
        }
    }
}

/// Another name for a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The target as configured: a tool or another alias.
    pub target: String,
    /// The tool at the end of the chain.
    pub tool: ToolName,
}

/// All aliases, each resolved to its tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases(IndexMap<String, Alias>);

impl Aliases {
    /// Resolves every alias to its tool. `find` looks a tool up by canonical or flat name; it may accept names of
    /// sources that are not connected yet.
    pub fn new(
        targets: IndexMap<String, String>,
        find: impl Fn(&str) -> Result<ToolName, UnknownName>,
    ) -> Result<Self, AliasError> {
        let mut aliases = IndexMap::with_capacity(targets.len());
        for (alias, target) in &targets {
            if find(alias).is_ok() {
                return Err(AliasError::Taken { alias: alias.clone() });
            }
            let tool = resolve(alias, &targets, &find)?;
            aliases.insert(alias.clone(), Alias { target: target.clone(), tool });
        }
        Ok(Self(aliases))
    }

    /// Returns the canonical name of the tool that an alias refers to.
    pub fn resolve(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|alias| alias.tool.as_str())
    }

    /// Returns an alias.
    pub fn get(&self, name: &str) -> Option<&Alias> {
        self.0.get(name)
    }

    /// Returns all aliases with their names, in the order of the configuration.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Alias)> {
        self.0.iter().map(|(name, alias)| (name.as_str(), alias))
    }
}

fn resolve(
    first: &str,
    targets: &IndexMap<String, String>,
    find: impl Fn(&str) -> Result<ToolName, UnknownName>,
) -> Result<ToolName, AliasError> {
    let mut chain = vec![first];
    while let Some(target) = chain.last().and_then(|last| targets.get(*last)) {
        if let Some(start) = chain.iter().position(|name| name == target) {
            let chain = chain[start..].iter().chain([&target.as_str()]).map(|it| (*it).to_owned()).collect();
            return Err(AliasError::Cycle { alias: first.to_owned(), chain });
        }
        chain.push(target);
    }
    let (end, alias) = (chain[chain.len() - 1], chain[chain.len().saturating_sub(2)]);
    find(end).map_err(|mut unknown| {
        let names = targets.keys().map(String::as_str).filter(|name| *name != alias);
        unknown.similar.extend(similar_names(end, names).into_iter().map(str::to_owned));
        AliasError::Unknown { alias: alias.to_owned(), unknown: Box::new(unknown) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aliases(pairs: &[(&str, &str)]) -> Result<Aliases, AliasError> {
        let targets = pairs.iter().map(|(name, target)| ((*name).to_owned(), (*target).to_owned())).collect();
        let tools = ["brave.web_search", "demo.foo"];
        Aliases::new(targets, |name| {
            let tool = tools.iter().find(|tool| **tool == name || ToolName::new(**tool).flat() == name);
            let mut unknown = UnknownName::plain(name);
            unknown.similar = similar_names(name, tools).into_iter().map(str::to_owned).collect();
            tool.map(|tool| ToolName::new(*tool)).ok_or(unknown)
        })
    }

    #[test]
    fn run_3_1_an_alias_refers_to_a_tool_or_to_another_alias() {
        let aliases =
            aliases(&[("w", "ws"), ("ws", "brave.web_search"), ("flat", "brave_web_search")]).unwrap();
        for name in ["w", "ws", "flat"] {
            assert_eq!(aliases.resolve(name), Some("brave.web_search"));
        }
        assert_eq!(aliases.resolve("brave.web_search"), None);
        let listed: Vec<_> = aliases.iter().map(|(name, alias)| (name, alias.target.as_str())).collect();
        assert_eq!(listed, [("w", "ws"), ("ws", "brave.web_search"), ("flat", "brave_web_search")]);
    }

    #[test]
    fn run_3_1_a_cycle_of_aliases_is_an_error_that_shows_it() {
        let error = |pairs| aliases(pairs).unwrap_err().to_string();
        assert_eq!(error(&[("a", "a")]), "alias cycle: a -> a");
        assert_eq!(error(&[("x", "a"), ("a", "b"), ("b", "a")]), "alias cycle: a -> b -> a");
    }

    #[test]
    fn run_3_1_a_missing_target_is_an_error_with_similar_names() {
        let error = aliases(&[("w", "ws"), ("ws", "brave.web_serch")]).unwrap_err();
        assert_eq!(error.alias(), "ws");
        assert_eq!(
            error.to_string(),
            "invalid alias 'ws': tool not found: 'brave.web_serch'; did you mean 'brave.web_search'?"
        );
        let error = aliases(&[("search", "demo.foo"), ("s", "serch")]).unwrap_err().to_string();
        assert_eq!(error, "invalid alias 's': tool not found: 'serch'; did you mean 'search'?");
    }

    #[test]
    fn run_3_1_an_alias_cannot_have_the_name_of_a_tool() {
        let error = aliases(&[("demo_foo", "brave.web_search")]).unwrap_err().to_string();
        assert_eq!(error, "alias 'demo_foo' is the name of a tool; choose another name");
    }
}
