//! A keyword added to every subschema to count its evaluations.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

use super::work;

/// The name of the keyword, chosen so that no real schema uses it.
pub(super) const KEYWORD: &str = "x-onetool-step";

/// Keywords whose values are data, not schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "examples"];
/// Keywords whose values are maps from arbitrary names to schemas.
const NAMED: [&str; 7] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
    "dependentRequired",
];

struct Step;

impl<'i> Keyword<'i> for Step {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        work::step();
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        work::step();
        true
    }
}

/// Creates the keyword. Compiling a subschema also counts as a step.
#[expect(clippy::unnecessary_wraps, reason = "the validator requires a fallible factory")]
pub(super) fn factory<'a>(
    _: &'a Map<String, Value>,
    _: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    work::step();
    Ok(Box::new(Step))
}

/// Adds the keyword to every subschema.
///
/// Objects under unknown keywords are treated as schemas, because a reference may point to them.
pub(super) fn counted(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut counted = Map::with_capacity(members.len() + 1);
            counted.insert(KEYWORD.to_owned(), Value::Bool(true));
            for (keyword, value) in members {
                let value = match value {
                    data if DATA.contains(&keyword.as_str()) => data,
                    Value::Object(named) if NAMED.contains(&keyword.as_str()) => Value::Object(
                        named.into_iter().map(|(name, schema)| (name, self::counted(schema))).collect(),
                    ),
                    other => self::counted(other),
                };
                counted.insert(keyword, value);
            }
            Value::Object(counted)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(counted).collect()),
        other => other,
    }
}
