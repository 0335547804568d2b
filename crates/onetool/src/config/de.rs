//! Tree → typed file, with the line and the path of keys in every error.
//!
//! A deserializer of its own rather than one over JSON: it hands a plain scalar over as the text that was written
//! when the target is a string, and its errors name what does not fit without quoting it.

use std::fmt::Display;

use indexmap::map::Iter;
use onetool_core::similar_names;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;

use super::ConfigError;
use super::tree::{Entry, Kind, Location, Node, join_key};

/// Reads the whole tree as `T`.
pub(super) fn from_tree<'de, T: Deserialize<'de>>(tree: &'de Node) -> Result<T, ConfigError> {
    T::deserialize(tree).map_err(|error| error.into_config_error(&tree.at))
}

#[derive(Debug)]
enum Problem {
    UnknownKey { key: String, known: &'static [&'static str] },
    MissingKey(&'static str),
    Type { expected: String, found: &'static str },
    Other(String),
}

/// A value that does not fit; collects its path on the way up.
#[derive(Debug)]
pub(super) struct Misfit {
    problem: Problem,
    path: String,
    at: Option<Location>,
}

impl Misfit {
    fn new(problem: Problem) -> Self {
        Self { problem, path: String::new(), at: None }
    }

    /// Sets where it is, unless something deeper knew better.
    fn at(mut self, at: &Location) -> Self {
        self.at.get_or_insert_with(|| at.clone());
        self
    }

    fn under(mut self, parent: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => parent.to_owned(),
            path if path.starts_with('[') => format!("{parent}{path}"),
            path => join_key(parent, path),
        };
        self
    }

    fn into_config_error(self, fallback: &Location) -> ConfigError {
        let (path, at) = (self.path, self.at.unwrap_or_else(|| fallback.clone()));
        match self.problem {
            Problem::UnknownKey { key, known } => {
                let suggestion = similar_names(&key, known.iter().copied()).first().copied();
                ConfigError::UnknownKey { key, section: path, suggestion, known, at }
            }
            Problem::MissingKey(key) => ConfigError::MissingKey { key, section: path, at },
            Problem::Type { expected, found } => ConfigError::Type { key: path, expected, found, at },
            Problem::Other(message) => ConfigError::Invalid { key: path, message, at },
        }
    }
}

impl std::error::Error for Misfit {}

impl Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl serde::de::Error for Misfit {
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
            "f64" => "a number".to_owned(),
            "u64" | "usize" => "a whole number, 0 or more".to_owned(),
            other => other.to_owned(),
        };
        Self::new(Problem::Type { expected, found })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey { key: field.to_owned(), known })
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::Other(format!("has to be one of {}", known.join(", "))))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::MissingKey(field))
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
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
        outcome.map_err(|error: Misfit| error.at(&self.at))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match &self.kind {
            Kind::Scalar(scalar) if !self.is_null() => {
                visitor.visit_borrowed_str(&scalar.text).map_err(|error: Misfit| error.at(&self.at))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// Takes only a map; serde would read a list as the fields in their order, too.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match &self.kind {
            Kind::Seq(_) => Err(Misfit::invalid_type(Unexpected::Seq, &visitor).at(&self.at)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match &self.kind {
            Kind::Scalar(scalar) => {
                visitor.visit_enum(Word(&scalar.text)).map_err(|error: Misfit| error.at(&self.at))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
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
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        let Some((key, entry)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some((key, &entry.value));
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
            .map_err(|error: Misfit| error.at(&entry.key_at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Misfit> {
        let Some((key, value)) = self.value.take() else {
            return Err(Misfit::custom("a value without a key"));
        };
        seed.deserialize(value).map_err(|error| error.at(&value.at).under(key))
    }
}

/// A scalar as the name of one of several choices.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Misfit> {
        Ok((seed.deserialize(BorrowedStrDeserializer::<Misfit>::new(self.0))?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Misfit> {
        Err(Misfit::custom("needs a value of its own"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Misfit> {
        Err(Misfit::custom("needs a value of its own"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Misfit> {
        Err(Misfit::custom("needs a value of its own"))
    }
}
