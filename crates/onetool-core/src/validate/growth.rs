//! Detects references that expand exponentially: a schema of a few lines can expand to billions of subschemas.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::JsonObject;

/// Maximum number of subschemas that one subschema may expand to, for the same value.
const MAX_EXPANSION: u64 = 1_000_000;
/// Maximum nesting of schemas that apply to the same value, directly or through references.
const MAX_CHAIN: usize = 64;

/// Maximum number of references by anchor or id, which only the validator can resolve.
const MAX_UNRESOLVED: usize = 16;

/// Keywords whose subschemas apply to the same value.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keywords that set the base URI of a schema; `id` is from draft 4.
const IDS: [&str; 2] = ["$id", "id"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema whose references expand too far.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// A subschema expands to too many subschemas.
    #[error("references grow exponentially: '{at}' expands to more than {MAX_EXPANSION} schemas")]
    Exponential {
        /// The subschema, as a reference.
        at: String,
    },
    /// Schemas for the same value are nested too deeply.
    #[error("more than {MAX_CHAIN} nested schemas apply to the same value at '{at}'")]
    TooDeep {
        /// The subschema, as a reference.
        at: String,
    },
    /// Too many references use an anchor or id.
    #[error("more than {MAX_UNRESOLVED} references by anchor or id; use '#/$defs/NAME' instead")]
    TooManyUnresolved,
    /// A subschema refers to itself for the same value.
    #[error("'{at}' refers to itself")]
    Circular {
        /// The subschema, as a reference.
        at: String,
    },
}

/// Checks that references do not expand exponentially, in time proportional to the size of the schema.
///
/// # Errors
/// If they do; the error says where.
pub fn check_growth(schema: &JsonObject) -> Result<(), GrowthError> {
    let mut growth = Growth { root: schema, expansions: HashMap::new(), unresolved: HashSet::new() };
    let mut references = Vec::new();
    let mut has_inner_ids = false;
    let mut pending = vec![schema];
    while let Some(members) = pending.pop() {
        references.extend(REFERENCES.iter().filter_map(|it| members.get(*it)?.as_str()));
        has_inner_ids |= !std::ptr::eq(members, schema) && IDS.iter().any(|it| is_text(members.get(*it)));
        if IN_PLACE.iter().any(|it| members.contains_key(*it)) {
            growth.expand_schema(members, "#", 0)?;
        }
        let mut values: Vec<&Value> = members.values().collect();
        while let Some(value) = values.pop() {
            match value {
                Value::Object(members) => pending.push(members),
                Value::Array(items) => values.extend(items),
                _ => {}
            }
        }
    }
    // An id in a subschema changes the meaning of the references below it.
    if has_inner_ids && references.iter().collect::<HashSet<_>>().len() > MAX_UNRESOLVED {
        return Err(GrowthError::TooManyUnresolved);
    }
    references.into_iter().try_for_each(|reference| growth.expand_reference(reference, 0).map(drop))
}

fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_string)
}

struct Growth<'s> {
    root: &'s JsonObject,
    /// The number of schemas that each reference expands to; `None` while it is being counted.
    expansions: HashMap<&'s str, Option<u64>>,
    /// References that only the validator can resolve.
    unresolved: HashSet<&'s str>,
}

impl<'s> Growth<'s> {
    fn expand_reference(&mut self, reference: &'s str, chain: usize) -> Result<u64, GrowthError> {
        let at = || reference.to_owned();
        match self.expansions.get(reference) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Err(GrowthError::Circular { at: at() }),
            None => {}
        }
        let Some(target) = self.resolve(reference) else {
            self.unresolved.insert(reference);
            let is_too_many = self.unresolved.len() > MAX_UNRESOLVED;
            return if is_too_many { Err(GrowthError::TooManyUnresolved) } else { Ok(1) };
        };
        self.expansions.insert(reference, None);
        let expansion = self.expand_schema(target, reference, chain + 1)?;
        if expansion > MAX_EXPANSION {
            return Err(GrowthError::Exponential { at: at() });
        }
        self.expansions.insert(reference, Some(expansion));
        Ok(expansion)
    }

    /// Counts the schemas that a schema applies to one value, including itself.
    fn expand_schema(
        &mut self,
        schema: &'s JsonObject,
        at: &'s str,
        chain: usize,
    ) -> Result<u64, GrowthError> {
        let mut count = 1_u64;
        if chain > MAX_CHAIN {
            return Err(GrowthError::TooDeep { at: at.to_owned() });
        }
        for reference in REFERENCES.iter().filter_map(|it| schema.get(*it)?.as_str()) {
            count = count.saturating_add(self.expand_reference(reference, chain)?);
        }
        for keyword in IN_PLACE {
            let parts: Vec<&Value> = match (keyword, schema.get(keyword)) {
                (_, None) => continue,
                (_, Some(Value::Array(parts))) => parts.iter().collect(),
                ("dependentSchemas", Some(Value::Object(parts))) => parts.values().collect(),
                (_, Some(part)) => vec![part],
            };
            for part in parts.into_iter().filter_map(Value::as_object) {
                count = count.saturating_add(self.expand_schema(part, at, chain + 1)?);
            }
        }
        Ok(count)
    }

    /// Resolves a reference, if it is a JSON Pointer into this document.
    fn resolve(&self, reference: &str) -> Option<&'s JsonObject> {
        let own = self.root.get("$id").and_then(Value::as_str).unwrap_or_default();
        let fragment = reference.strip_prefix(own).and_then(|rest| rest.strip_prefix('#'));
        let pointer = fragment.or_else(|| reference.strip_prefix('#'))?;
        if pointer.is_empty() {
            return Some(self.root);
        }
        let end = pointer.get(1..)?.find('/').map_or(pointer.len(), |at| at + 1);
        let (first, rest) = pointer.split_at_checked(end)?;
        let first = first.strip_prefix('/')?.replace("~1", "/").replace("~0", "~");
        self.root.get(&first)?.pointer(rest)?.as_object()
    }
}
