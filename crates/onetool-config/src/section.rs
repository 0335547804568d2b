//! A key of the configuration, set or not, and how to read its value.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;

use crate::de;
use crate::error::ConfigError;
use crate::tree::{Kind, Location, Node, absolute_path, join_key};

/// A key of a configuration, whether or not it is set. It always has a location: that of the nearest line.
///
/// ```
/// # fn main() -> Result<(), onetool_config::ConfigError> {
/// #[derive(Debug, Default, PartialEq, serde::Deserialize)]
/// #[serde(default, deny_unknown_fields)]
/// struct Limits {
///     calls: u32,
/// }
///
/// let document = onetool_config::parse_text("limits: {calls: 3}", "/onetool.yaml".as_ref(), &|_| None)?;
/// let limits: Limits = document.root().field("limits").read()?;
/// assert_eq!(limits, Limits { calls: 3 });
/// let missing: Limits = document.root().field("other").read()?;
/// assert_eq!(missing, Limits::default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Section<'a> {
    at: &'a Location,
    path: String,
    node: Option<&'a Node>,
}

impl<'a> Section<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self { at: &node.at, path: String::new(), node: Some(node) }
    }

    /// Returns the path of keys to this one, such as `tools[0].http.url`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the location of the value, or of the nearest key above it.
    pub fn location(&self) -> &'a Location {
        self.at
    }

    /// Returns whether the file contains the key, with or without a value.
    pub fn is_present(&self) -> bool {
        self.node.is_some()
    }

    /// Returns whether the value contains a variable; messages must not quote such a value.
    pub fn is_expanded(&self) -> bool {
        matches!(self.node.map(|node| &node.kind), Some(Kind::Scalar(scalar)) if scalar.is_expanded)
    }

    /// Returns a key inside this one.
    #[must_use]
    pub fn field(&self, key: &str) -> Self {
        let entry = self.node.and_then(|node| node.get(key));
        let path = join_key(&self.path, key);
        Self { at: entry.map_or(self.at, |it| &it.value.at), path, node: entry.map(|it| &it.value) }
    }

    /// Returns the item of this list at `index`.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        let node = self.nodes().get(index);
        Self { at: node.map_or(self.at, |it| &it.at), path: format!("{}[{index}]", self.path), node }
    }

    /// Returns the keys of this map, or none if it is not a map.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let entries = self.node.and_then(|node| match &node.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        });
        entries.into_iter().flat_map(|entries| entries.keys().map(String::as_str))
    }

    /// Returns the items of this list, or none if it is not a list.
    pub fn items(&self) -> impl Iterator<Item = Self> {
        (0..self.nodes().len()).map(|index| self.item(index))
    }

    /// Returns the text of this value as written, if it is a single value.
    pub fn text(&self) -> Option<&'a str> {
        match self.node.map(|node| (&node.kind, node.is_null())) {
            Some((Kind::Scalar(scalar), false)) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Makes a path absolute. Relative paths start at the directory of the file that contains this key.
    pub fn absolute_path(&self, path: &str) -> PathBuf {
        absolute_path(path, self.at)
    }

    /// Reads the value; a missing or empty key has the default.
    ///
    /// # Errors
    /// When the value is not a valid `T`.
    pub fn read<T: DeserializeOwned + Default>(&self) -> Result<T, ConfigError> {
        match self.node {
            Some(node) if !node.is_null() => de::read(node, &self.path),
            _ => Ok(T::default()),
        }
    }

    /// Reads a value that is required.
    ///
    /// # Errors
    /// When the key is missing, or the value is not a valid `T`.
    pub fn read_required<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        match self.node {
            Some(node) => de::read(node, &self.path),
            None => Err(self.invalid("a value is required")),
        }
    }

    /// Reads every entry of this map with `read`; a missing map has no entries.
    ///
    /// # Errors
    /// When this is not a map, or when `read` fails.
    pub fn read_entries<T>(
        &self,
        read: impl Fn(&str, &Self) -> Result<T, ConfigError>,
    ) -> Result<IndexMap<String, T>, ConfigError> {
        let is_map = |node: &Node| matches!(node.kind, Kind::Map(_)) || node.is_null();
        if let Some(node) = self.node.filter(|node| !is_map(node)) {
            return Err(de::wrong_type(node, "a map", &self.path));
        }
        let entry = |name: &'a str| Ok((name.to_owned(), read(name, &self.field(name))?));
        self.keys().map(entry).collect()
    }

    /// Reads every item of this list with `read`; a missing list has no items.
    ///
    /// # Errors
    /// When this is not a list, or when `read` fails.
    pub fn read_items<T>(
        &self,
        read: impl Fn(&Self) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        let is_list = |node: &Node| matches!(node.kind, Kind::Seq(_)) || node.is_null();
        if let Some(node) = self.node.filter(|node| !is_list(node)) {
            return Err(de::wrong_type(node, "a list", &self.path));
        }
        self.items().map(|item| read(&item)).collect()
    }

    /// Rejects keys of this map that are not in `known`.
    ///
    /// # Errors
    /// At the first unknown key; suggests the most similar known key.
    pub fn check_keys(&self, known: &[&str]) -> Result<(), ConfigError> {
        match self.keys().find(|key| !known.contains(key)) {
            Some(key) => {
                let at = self.node.and_then(|node| node.get(key)).map_or(self.at, |entry| &entry.key_at);
                Err(ConfigError::unknown_key(key, &self.path, known, at.clone()))
            }
            None => Ok(()),
        }
    }

    /// Returns the error for a value that breaks a rule.
    pub fn invalid(&self, message: impl Into<String>) -> ConfigError {
        ConfigError::Invalid { key: self.path.clone(), message: message.into(), at: self.at.clone() }
    }

    fn nodes(&self) -> &'a [Node] {
        match self.node.map(|node| &node.kind) {
            Some(Kind::Seq(items)) => items,
            _ => &[],
        }
    }
}
