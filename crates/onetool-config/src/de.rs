//! Deserializes a tree into typed values, with the line and the path of the key in every error.
//!
//! The tree is not converted to JSON first: where a string is expected, a plain scalar must be the text as written, and
//! errors must name the expected type without quoting the value.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStringExt as _;

use indexmap::map::Iter;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Number, Value};

use crate::error::ConfigError;
use crate::tree::{Entry, Kind, Location, Node, absolute_path, join_key};
use crate::value::PATH_TOKEN;

/// Reads the node at the key `path` as `T`.
pub(crate) fn read<'de, T: Deserialize<'de>>(node: &'de Node, path: &str) -> Result<T, ConfigError> {
    T::deserialize(node).map_err(|error| error.under(path).into_config_error(&node.at))
}

/// Returns the error for a node at the key `path` that is not of the expected type.
pub(crate) fn wrong_type(node: &Node, expected: &str, path: &str) -> ConfigError {
    let value = match &node.kind {
        Kind::Scalar(scalar) => scalar.value(),
        _ => Value::Null,
    };
    let found = match (&node.kind, &value) {
        (Kind::Map(_), _) => Unexpected::Map,
        (Kind::Seq(_), _) => Unexpected::Seq,
        (Kind::Scalar(_), Value::Bool(flag)) => Unexpected::Bool(*flag),
        (Kind::Scalar(_), Value::Number(number)) => unexpected_number(number),
        (Kind::Scalar(_), _) => Unexpected::Str(""),
    };
    Mismatch::invalid_type(found, &expected).under(path).into_config_error(&node.at)
}

fn unexpected_number(number: &Number) -> Unexpected<'static> {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), _, _) => Unexpected::Unsigned(number),
        (_, Some(number), _) => Unexpected::Signed(number),
        (_, _, number) => Unexpected::Float(number.unwrap_or_default()),
    }
}

#[derive(Debug)]
enum Problem {
    UnknownKey { key: String, known: &'static [&'static str] },
    MissingKey(&'static str),
    Type { expected: String, found: &'static str },
    Other(String),
}

/// A value of the wrong form. The path of its key grows while the error propagates.
#[derive(Debug)]
pub(crate) struct Mismatch {
    problem: Problem,
    path: String,
    at: Option<Location>,
}

impl Mismatch {
    fn new(problem: Problem) -> Self {
        Self { problem, path: String::new(), at: None }
    }

    /// Sets the location, unless a deeper one is already known.
    fn at(mut self, at: &Location) -> Self {
        self.at.get_or_insert_with(|| at.clone());
        self
    }

    fn under(mut self, parent: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => parent.to_owned(),
            _ if parent.is_empty() => self.path,
            path if path.starts_with('[') => format!("{parent}{path}"),
            path => join_key(parent, path),
        };
        self
    }

    fn into_config_error(self, fallback: &Location) -> ConfigError {
        let (path, at) = (self.path, self.at.unwrap_or_else(|| fallback.clone()));
        match self.problem {
            Problem::UnknownKey { key, known } => ConfigError::unknown_key(&key, &path, known, at),
            Problem::MissingKey(key) => ConfigError::MissingKey { key, section: path, at },
            Problem::Type { expected, found } => ConfigError::Type { key: path, expected, found, at },
            Problem::Other(message) => ConfigError::Invalid { key: path, message, at },
        }
    }
}

impl std::error::Error for Mismatch {}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl serde::de::Error for Mismatch {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Problem::Other(message.to_string()))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match unexpected {
            Unexpected::Bool(_) => "true or false",
            Unexpected::Signed(..0) => "a negative number",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a whole number",
            Unexpected::Float(_) => "a number with a fraction",
            Unexpected::Str(_) => "text",
            Unexpected::Seq => "a list",
            Unexpected::Map => "a map",
            _ => "empty",
        };
        let expected = match expected.to_string().as_str() {
            "a boolean" => "true or false".to_owned(),
            "a string" => "text".to_owned(),
            "a sequence" => "a list".to_owned(),
            "f32" | "f64" => "a number".to_owned(),
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more".to_owned(),
            "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
            other => other.to_owned(),
        };
        Self::new(Problem::Type { expected, found })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::Unsigned(_) => Self::custom("the number is too large"),
            _ => Self::invalid_type(unexpected, expected),
        }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey { key: field.to_owned(), known })
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::Other(format!("must be one of {}", known.join(", "))))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::MissingKey(field))
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let outcome = match &self.kind {
            Kind::Seq(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            Kind::Map(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
            Kind::Scalar(scalar) => match scalar.value() {
                Value::Bool(value) => visitor.visit_bool(value),
                Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(number), _, _) => visitor.visit_u64(number),
                    (_, Some(number), _) => visitor.visit_i64(number),
                    (_, _, number) => visitor.visit_f64(number.unwrap_or_default()),
                },
                Value::String(_) => visitor.visit_borrowed_str(&scalar.text),
                _ => visitor.visit_unit(),
            },
        };
        outcome.map_err(|error: Mismatch| error.at(&self.at))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.kind {
            Kind::Scalar(scalar) if !self.is_null() => {
                visitor.visit_borrowed_str(&scalar.text).map_err(|error: Mismatch| error.at(&self.at))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// Accepts only a map; serde would also read a list as the fields in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match &self.kind {
            Kind::Map(_) => self.deserialize_any(visitor),
            Kind::Seq(_) => Err(Mismatch::invalid_type(Unexpected::Seq, &"a map").at(&self.at)),
            Kind::Scalar(_) => {
                self.deserialize_any(ExpectMap::<V>(PhantomData)).map_err(|error| error.at(&self.at))
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        if name != PATH_TOKEN {
            return visitor.visit_newtype_struct(self);
        }
        let path = String::deserialize(self)?;
        if path.trim().is_empty() {
            return Err(Mismatch::custom("must not be empty").at(&self.at));
        }
        visitor.visit_byte_buf(absolute_path(&path, &self.at).into_os_string().into_vec())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match &self.kind {
            Kind::Scalar(scalar) => {
                visitor.visit_enum(VariantName(&scalar.text)).map_err(|error: Mismatch| error.at(&self.at))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Rejects every scalar with the error that a map was expected.
struct ExpectMap<V>(PhantomData<V>);

impl<'de, V: Visitor<'de>> Visitor<'de> for ExpectMap<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        let Some(item) = self.items.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(item).map(Some).map_err(|error| error.at(&item.at).under(&format!("[{index}]")))
    }
}

struct Entries<'de> {
    entries: Iter<'de, String, Entry>,
    value: Option<(&'de String, &'de Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        let Some((key, entry)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some((key, &entry.value));
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
            .map_err(|error: Mismatch| error.at(&entry.key_at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        let Some((key, value)) = self.value.take() else {
            return Err(Mismatch::custom("a value without a key"));
        };
        seed.deserialize(value).map_err(|error| error.at(&value.at).under(key))
    }
}

/// A scalar that names an enum variant.
struct VariantName<'de>(&'de str);

impl<'de> EnumAccess<'de> for VariantName<'de> {
    type Error = Mismatch;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Mismatch> {
        Ok((seed.deserialize(BorrowedStrDeserializer::<Mismatch>::new(self.0))?, self))
    }
}

impl<'de> VariantAccess<'de> for VariantName<'de> {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Mismatch> {
        Err(Mismatch::custom("requires a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Mismatch> {
        Err(Mismatch::custom("requires a value"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Mismatch> {
        Err(Mismatch::custom("requires a value"))
    }
}
