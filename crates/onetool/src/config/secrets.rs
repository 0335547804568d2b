//! Values that must not show: the file they come from, the type that carries them, the filter for texts.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use super::include::read;
use super::parse::{Budget, parse};
use super::tree::{Entry, Kind, Place};
use super::{ConfigError, LoadedFile};

/// Shorter values are not worth hiding: they stand in ordinary words.
const REDACTED_MIN: usize = 6;

/// A value that neither debug output nor messages show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value, for the one place that has to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Takes secret values out of texts. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    /// What to look for, longest first, so that no secret hides behind a part of itself.
    values: Arc<Vec<String>>,
}

impl Redactor {
    /// Makes a filter for `values`; those of fewer than six characters are left alone.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().filter(|value| value.chars().count() >= REDACTED_MIN);
        let mut values: Vec<String> = values.flat_map(spellings).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values: Arc::new(values) }
    }

    /// Makes a filter that looks for `value`, too.
    #[must_use]
    pub fn with(&self, value: &str) -> Self {
        Self::new(self.values.iter().cloned().chain([value.to_owned()]))
    }

    /// Makes a filter that looks for the values of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::new(self.values.iter().chain(other.values.iter()).cloned())
    }

    /// Replaces every secret value in `text` by `[redacted]`.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in self.values.iter() {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), "[redacted]").into();
            }
        }
        text
    }
}

/// Messages quote values in several ways, and each of them would get past a search for the value itself.
fn spellings(value: String) -> [String; 3] {
    let json = serde_json::Value::from(value.as_str()).to_string();
    let debug = value.escape_debug().to_string();
    [value, debug, json.trim_matches('"').to_owned()]
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.values.len())
    }
}

/// Reads `secrets.yaml`, a flat map; no file is no secrets. Warns if others can read it.
pub(super) fn read_secrets(
    path: &Path,
    warnings: &mut Vec<String>,
    files: &mut Vec<LoadedFile>,
) -> Result<IndexMap<String, String>, ConfigError> {
    if !path.exists() {
        return Ok(IndexMap::new());
    }
    let text = read(path, None)?;
    files.push(LoadedFile::new(path, text.as_bytes()));
    if is_open_to_others(path) {
        warnings.push(format!("others can read your secrets: chmod 600 {}", path.display()));
    }
    let tree = parse(&text, &Arc::from(path), &mut Budget::default())?;
    let place = Place::root(&tree);
    let Kind::Map(entries) = &tree.kind else {
        let message = "secrets.yaml has to be a map of names to values".into();
        return Err(ConfigError::Syntax { message, hint: None, at: tree.at.clone() });
    };
    let secret = |(name, entry): (&String, &Entry)| match &entry.value.kind {
        Kind::Scalar(_) if entry.value.is_null() => Ok((name.clone(), String::new())),
        Kind::Scalar(scalar) => Ok((name.clone(), scalar.text.clone())),
        _ => {
            Err(ConfigError::invalid(&place.field(name), "a secret has to be one value, not a list or a map"))
        }
    };
    entries.iter().map(secret).collect()
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
