//! Types of values with rules. They check the rules when a value is read and describe them in the JSON Schema.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// The name under which [`FilePath`] asks the deserializer for an absolute path.
pub(crate) const PATH_TOKEN: &str = "$onetool::FilePath";

/// One day. Much longer times would overflow the arithmetic on deadlines.
const MAX_SECONDS: u32 = 86_400;

/// A time limit: more than 0 and at most 86400 seconds, with or without a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(Duration);

impl Seconds {
    /// Creates a time limit, for use as a default.
    pub const fn new(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl Deref for Seconds {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

impl From<Duration> for Seconds {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = Duration::from_secs(MAX_SECONDS.into());
        let duration = Duration::try_from_secs_f64(f64::deserialize(deserializer)?).ok();
        match duration.filter(|it| !it.is_zero() && *it <= limit) {
            Some(duration) => Ok(Self(duration)),
            None => Err(D::Error::custom("must be more than 0 and at most 86400 seconds")),
        }
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.subsec_nanos() == 0 {
            return serializer.serialize_u64(self.0.as_secs());
        }
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

impl JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SECONDS})
    }
}

/// A whole number that is at least `MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct AtLeast<const MIN: u64>(u64);

impl<const MIN: u64> AtLeast<MIN> {
    /// Creates a number, for use as a default; raises a smaller one to `MIN`.
    pub const fn new(number: u64) -> Self {
        Self(if number < MIN { MIN } else { number })
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number as a size or count in memory.
    pub fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de, const MIN: u64> Deserialize<'de> for AtLeast<MIN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            number if number >= MIN => Ok(Self(number)),
            _ => Err(D::Error::custom(format!("must be at least {MIN}"))),
        }
    }
}

impl<const MIN: u64> JsonSchema for AtLeast<MIN> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("AtLeast{MIN}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN})
    }
}

/// Text that is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct NonEmpty(String);

impl NonEmpty {
    /// Wraps text that is not empty, for use as a default.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<&str> for NonEmpty {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Deref for NonEmpty {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for NonEmpty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(D::Error::custom("must not be empty"));
        }
        Ok(Self(text))
    }
}

impl JsonSchema for NonEmpty {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NonEmpty".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}

/// An absolute path. A relative path in a file starts at the directory of that file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// Wraps an absolute path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    pub fn into_path(self) -> PathBuf {
        self.0
    }
}

impl From<PathBuf> for FilePath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for FilePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Absolute;
        impl Visitor<'_> for Absolute {
            type Value = FilePath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path")
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<FilePath, E> {
                Ok(FilePath(OsString::from_vec(bytes).into()))
            }
        }
        deserializer.deserialize_newtype_struct(PATH_TOKEN, Absolute)
    }
}

impl JsonSchema for FilePath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FilePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}

/// A URL that begins with `http://` or `https://` and has a host.
///
/// It may contain a password, so its debug output shows only the host.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl(Url);

impl HttpUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// When `text` is not an HTTP URL.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("invalid URL: {error}"))?;
        if matches!(url.scheme(), "http" | "https") && url.host().is_some() {
            return Ok(Self(url));
        }
        Err("must begin with http:// or https://".to_owned())
    }

    /// Returns the URL.
    pub fn into_url(self) -> Url {
        self.0
    }
}

impl Deref for HttpUrl {
    type Target = Url;

    fn deref(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpUrl({})", self.0.host_str().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for HttpUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for HttpUrl {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HttpUrl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "uri"})
    }
}
