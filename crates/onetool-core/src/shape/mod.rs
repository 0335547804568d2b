//! Shapes of results: keys and types without values, as code that uses a result needs to know them.

mod learned;
mod schema;
mod text;

pub use learned::LearnedShape;

/// What a tool returns.
///
/// ```
/// use onetool_core::Shape;
///
/// let schema = serde_json::json!({"type": "object", "required": ["items"], "properties": {
///     "items": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
///     "next": {"type": "string"},
/// }});
/// let shape = Shape::from_schema(schema.as_object().unwrap());
/// assert_eq!(shape.short(), "{items: [{id}], next}");
/// assert_eq!(shape.to_string(), "{items: list[{id?: int}], next?: str}");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Nothing is known.
    Any,
    /// `None`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `str`.
    Str,
    /// A list of elements of one shape.
    List(Box<Self>),
    /// A dictionary with keys that are data, and values of one shape.
    Map(Box<Self>),
    /// A dictionary with known keys.
    Record(Record),
    /// One of several shapes.
    Union(Vec<Self>),
}

/// A dictionary with known keys.
///
/// ```
/// use onetool_core::Shape;
///
/// let schema = serde_json::json!({"properties": {"id": {}}, "additionalProperties": false});
/// let Shape::Record(record) = Shape::from_schema(schema.as_object().unwrap()) else { panic!() };
/// assert!(!record.is_open && record.fields[0].name == "id");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// The keys, in the order of the schema.
    pub fields: Vec<Field>,
    /// Whether there may be other keys.
    pub is_open: bool,
}

/// A key of a [`Record`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The key.
    pub name: String,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether the key may be missing.
    pub is_optional: bool,
}

/// A step from a value into one of its parts.
///
/// ```
/// use onetool_core::{Shape, Step};
///
/// let schema = serde_json::json!({"type": "array", "items": {"properties": {"title": {}}}});
/// let shape = Shape::from_schema(schema.as_object().unwrap());
/// let path = [Step::Element, Step::Key("titel".into())];
/// let missing = shape.missing_key(&path).unwrap();
/// assert_eq!((missing.key, missing.known), ("titel", vec!["title"]));
/// assert!(shape.missing_key(&[Step::Element, Step::Key("title".into())]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An element of a list.
    Element,
}

/// A key that a shape does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingKey<'a> {
    /// The key.
    pub key: &'a str,
    /// The keys that the shape has there.
    pub known: Vec<&'a str>,
    /// Whether the shape says that there are no other keys.
    pub is_certain: bool,
}

impl Shape {
    /// Returns the first key on a path that the shape does not have. Returns `None` where nothing is known.
    pub fn missing_key<'a>(&'a self, path: &'a [Step]) -> Option<MissingKey<'a>> {
        let (step, rest) = path.split_first()?;
        match (self, step) {
            (Self::List(element), Step::Element) => element.missing_key(rest),
            (Self::Map(value), Step::Key(_)) => value.missing_key(rest),
            (Self::Record(record), Step::Key(key)) => {
                match record.fields.iter().find(|field| field.name == *key) {
                    Some(field) => field.shape.missing_key(rest),
                    None => Some(MissingKey {
                        key,
                        known: record.fields.iter().map(|field| field.name.as_str()).collect(),
                        is_certain: !record.is_open,
                    }),
                }
            }
            // A key is missing only if no variant has it. Variants without keys, such as `None`, do not matter.
            (Self::Union(variants), _) => {
                let mut missing = None;
                for variant in variants.iter().filter(|it| it.has_parts()) {
                    missing = Some(variant.missing_key(path)?);
                }
                missing
            }
            _ => None,
        }
    }

    /// Returns whether code can take a part of such a value.
    fn has_parts(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool | Self::Int | Self::Float)
    }

    /// Returns whether nothing is known.
    pub fn is_any(&self) -> bool {
        *self == Self::Any
    }

    /// Returns a shape for any of several, without duplicates.
    fn union(shapes: impl IntoIterator<Item = Self>) -> Self {
        let mut variants: Vec<Self> = Vec::new();
        for shape in shapes {
            let flat = if let Self::Union(inner) = shape { inner } else { vec![shape] };
            for variant in flat {
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
        }
        if variants.contains(&Self::Any) {
            return Self::Any;
        }
        // `None` comes last, as in `str | None`.
        variants.sort_by_key(|it| *it == Self::Null);
        match variants.len() {
            0 => Self::Any,
            1 => variants.remove(0),
            _ => Self::Union(variants),
        }
    }
}

#[cfg(test)]
mod tests;
