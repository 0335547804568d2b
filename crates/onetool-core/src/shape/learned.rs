//! Shapes learned from results: which keys and types were seen, and how often; never values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Field, Record, Shape};

/// Limits of what is learned from one tool.
const MAX_DEPTH: usize = 8;
const MAX_NODES: usize = 1_000;
/// Keys of one object before it counts as a map whose keys are data.
const MAX_KEYS: usize = 64;
/// Elements of a list that are read.
const MAX_ELEMENTS: usize = 50;
/// Longest key that is kept. A longer one is data.
const MAX_KEY: usize = 48;
/// How many results must have a key before it counts as always present.
const MIN_RESULTS: u64 = 3;

/// Keys and types that were seen in the results of a tool.
///
/// A key that looks like data (a number, an identifier, an address, a token) turns its object into a map, so that
/// only names that a program could spell are kept.
///
/// ```
/// use onetool_core::LearnedShape;
/// use serde_json::json;
///
/// let mut learned = LearnedShape::default();
/// for title in ["a", "b", "c"] {
///     learned.add(&json!({"id": 1, "title": title}));
/// }
/// learned.add(&json!({"id": 2, "title": null, "extra": true}));
/// assert_eq!(learned.shape().to_string(), "{extra?: bool, id: int, title: str | None}");
/// assert_eq!(learned.results(), 4);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedShape {
    root: Node,
}

/// What was seen at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Node {
    /// How many values were seen.
    #[serde(rename = "n")]
    seen: u64,
    /// Which scalar types were seen: the bits of [`Node::scalar_bit`].
    #[serde(rename = "s", skip_serializing_if = "is_zero")]
    scalars: u8,
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    element: Option<Box<Self>>,
    /// How many objects were seen, and their keys.
    #[serde(rename = "o", skip_serializing_if = "is_zero")]
    objects: u64,
    #[serde(rename = "k", skip_serializing_if = "BTreeMap::is_empty")]
    keys: BTreeMap<String, Self>,
    /// The values, if keys are data.
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    map: Option<Box<Self>>,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl LearnedShape {
    /// Adds what one result shows.
    pub fn add(&mut self, value: &Value) {
        let mut left = MAX_NODES.saturating_sub(self.root.count());
        self.root.add(value, 0, &mut left);
    }

    /// Adds what another replica or session has seen.
    pub fn merge(&mut self, other: &Self) {
        let mut left = MAX_NODES.saturating_sub(self.root.count());
        self.root.merge(&other.root, &mut left);
    }

    /// Returns how many results were seen.
    pub fn results(&self) -> u64 {
        self.root.seen
    }

    /// Returns the shape that covers all results so far.
    pub fn shape(&self) -> Shape {
        if self.root.seen == 0 { Shape::Any } else { self.root.shape() }
    }
}

impl Node {
    const SCALARS: [(u8, Shape); 5] =
        [(1, Shape::Str), (2, Shape::Int), (4, Shape::Float), (8, Shape::Bool), (16, Shape::Null)];

    fn scalar_bit(value: &Value) -> u8 {
        match value {
            Value::String(_) => 1,
            Value::Number(number) if number.is_f64() => 4,
            Value::Number(_) => 2,
            Value::Bool(_) => 8,
            Value::Null => 16,
            Value::Array(_) | Value::Object(_) => 0,
        }
    }

    fn count(&self) -> usize {
        let children = self.keys.values().chain(self.element.as_deref()).chain(self.map.as_deref());
        1 + children.map(Self::count).sum::<usize>()
    }

    fn add(&mut self, value: &Value, depth: usize, left: &mut usize) {
        self.seen = self.seen.saturating_add(1);
        self.scalars |= Self::scalar_bit(value);
        if depth >= MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => {
                let element = self.element.get_or_insert_default();
                for item in items.iter().take(MAX_ELEMENTS) {
                    element.add(item, depth + 1, left);
                }
            }
            Value::Object(members) => {
                self.objects = self.objects.saturating_add(1);
                if self.map.is_none() && members.keys().any(|key| is_data(key)) {
                    self.collapse(left);
                }
                for (key, member) in members {
                    if let Some(node) = self.member(key, left) {
                        node.add(member, depth + 1, left);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the node for the value of a key, unless the limit is reached.
    fn member(&mut self, key: &str, left: &mut usize) -> Option<&mut Self> {
        if self.map.is_none() && !self.keys.contains_key(key) {
            if self.keys.len() >= MAX_KEYS {
                self.collapse(left);
            } else {
                *left = left.checked_sub(1)?;
                self.keys.insert(key.to_owned(), Self::default());
            }
        }
        match &mut self.map {
            Some(map) => Some(map),
            None => self.keys.get_mut(key),
        }
    }

    /// Forgets the keys: they are data.
    fn collapse(&mut self, left: &mut usize) {
        let mut map = Self::default();
        for (_, node) in std::mem::take(&mut self.keys) {
            map.merge(&node, left);
        }
        self.map = Some(Box::new(map));
    }

    fn merge(&mut self, other: &Self, left: &mut usize) {
        self.seen = self.seen.saturating_add(other.seen);
        self.objects = self.objects.saturating_add(other.objects);
        self.scalars |= other.scalars;
        if let Some(element) = &other.element {
            self.element.get_or_insert_default().merge(element, left);
        }
        if other.map.is_some() && self.map.is_none() {
            self.collapse(left);
        }
        if let (Some(map), Some(other)) = (&mut self.map, &other.map) {
            map.merge(other, left);
        }
        for (key, node) in &other.keys {
            if let Some(member) = self.member(key, left) {
                member.merge(node, left);
            }
        }
    }

    fn shape(&self) -> Shape {
        let mut variants: Vec<Shape> =
            Self::SCALARS.into_iter().filter(|(bit, _)| self.scalars & bit != 0).map(|(_, it)| it).collect();
        if variants.contains(&Shape::Int) && variants.contains(&Shape::Float) {
            variants.retain(|it| *it != Shape::Int);
        }
        if let Some(element) = &self.element {
            variants.push(Shape::List(Box::new(if element.seen == 0 {
                Shape::Any
            } else {
                element.shape()
            })));
        }
        if let Some(map) = &self.map {
            variants.push(Shape::Map(Box::new(map.shape())));
        } else if self.objects > 0 {
            let field = |(name, node): (&String, &Self)| Field {
                name: name.clone(),
                shape: node.shape(),
                is_optional: node.seen < self.objects || self.objects < MIN_RESULTS,
            };
            variants
                .push(Shape::Record(Record { fields: self.keys.iter().map(field).collect(), is_open: true }));
        }
        Shape::union(variants)
    }
}

/// Returns whether a key looks like data rather than a name that a program would spell.
fn is_data(key: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$' | '@' | '.' | ':' | '/');
    let digits = key.chars().filter(char::is_ascii_digit).count();
    key.is_empty()
        || key.len() > MAX_KEY
        || !key.chars().all(is_name)
        || key.starts_with(|c: char| c.is_ascii_digit() || c == '/')
        || key.contains("://")
        || key.find('@').is_some_and(|at| at > 0)
        // Identifiers and tokens mix letters and many digits; names such as `address_line_2` or `sha256` do not.
        || (digits > 3 && key.len() > 8)
}
