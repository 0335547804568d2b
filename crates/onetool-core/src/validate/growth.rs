//! References that multiply: a schema of a few lines that stands for billions of subschemas.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::JsonObject;

/// To how many subschemas one subschema may expand that all apply to the same value.
const MAX_EXPANSION: u64 = 1_000_000;
/// How many schemas may be nested in each other, by references or directly, without a step into the value.
const MAX_CHAIN: usize = 64;

/// How many references there may be that only the validator can follow, because they go by anchor or by id.
const MAX_OTHERS: usize = 16;

/// Keywords that apply further schemas to the same value.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keywords that give a schema a base of its own; the second is that of an old draft.
const IDS: [&str; 2] = ["$id", "id"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema whose references have no reasonable end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// One subschema stands for too many.
    #[error("its references grow exponentially: '{at}' expands to more than {MAX_EXPANSION} schemas")]
    Exponential {
        /// The subschema, as a reference.
        at: String,
    },
    /// Schemas that apply to one value are nested too deeply.
    #[error("schemas that apply to the same value are nested more than {MAX_CHAIN} deep at '{at}'")]
    Deep {
        /// The subschema, as a reference.
        at: String,
    },
    /// Too many references cannot be followed here.
    #[error("it has more than {MAX_OTHERS} references by anchor or id; write them as '#/$defs/NAME'")]
    Others,
    /// A subschema stands for itself.
    #[error("'{at}' refers to itself")]
    Circular {
        /// The subschema, as a reference.
        at: String,
    },
}

/// Looks for references that multiply without end, in time that grows with the size of the schema.
///
/// # Errors
/// When there are such references; the error names where.
pub fn check_growth(schema: &JsonObject) -> Result<(), GrowthError> {
    let mut growth = Growth { root: schema, expansions: HashMap::new(), others: HashSet::new() };
    let mut references = Vec::new();
    let mut has_inner_ids = false;
    let mut pending = vec![schema];
    while let Some(members) = pending.pop() {
        references.extend(REFERENCES.iter().filter_map(|it| members.get(*it)?.as_str()));
        has_inner_ids |= !std::ptr::eq(members, schema) && IDS.iter().any(|it| is_text(members.get(*it)));
        if IN_PLACE.iter().any(|it| members.contains_key(*it)) {
            growth.of_schema(members, "#", 0)?;
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
    // An id in the middle changes what references below it mean.
    if has_inner_ids && references.iter().collect::<HashSet<_>>().len() > MAX_OTHERS {
        return Err(GrowthError::Others);
    }
    references.into_iter().try_for_each(|reference| growth.of_reference(reference, 0).map(drop))
}

fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_string)
}

struct Growth<'s> {
    root: &'s JsonObject,
    /// What is known of references: to how many schemas each expands, or that it is being looked at.
    expansions: HashMap<&'s str, Option<u64>>,
    /// References that only the validator can follow.
    others: HashSet<&'s str>,
}

impl<'s> Growth<'s> {
    fn of_reference(&mut self, reference: &'s str, chain: usize) -> Result<u64, GrowthError> {
        let at = || reference.to_owned();
        match self.expansions.get(reference) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Err(GrowthError::Circular { at: at() }),
            None => {}
        }
        let Some(target) = self.target(reference) else {
            self.others.insert(reference);
            return if self.others.len() > MAX_OTHERS { Err(GrowthError::Others) } else { Ok(1) };
        };
        self.expansions.insert(reference, None);
        let expansion = self.of_schema(target, reference, chain + 1)?;
        if expansion > MAX_EXPANSION {
            return Err(GrowthError::Exponential { at: at() });
        }
        self.expansions.insert(reference, Some(expansion));
        Ok(expansion)
    }

    /// Counts the schemas that one schema applies to the value that it is applied to.
    fn of_schema(&mut self, schema: &'s JsonObject, at: &'s str, chain: usize) -> Result<u64, GrowthError> {
        let mut count = 1_u64;
        if chain > MAX_CHAIN {
            return Err(GrowthError::Deep { at: at.to_owned() });
        }
        for reference in REFERENCES.iter().filter_map(|it| schema.get(*it)?.as_str()) {
            count = count.saturating_add(self.of_reference(reference, chain)?);
        }
        for keyword in IN_PLACE {
            let parts: Vec<&Value> = match (keyword, schema.get(keyword)) {
                (_, None) => continue,
                (_, Some(Value::Array(parts))) => parts.iter().collect(),
                ("dependentSchemas", Some(Value::Object(parts))) => parts.values().collect(),
                (_, Some(part)) => vec![part],
            };
            for part in parts.into_iter().filter_map(Value::as_object) {
                count = count.saturating_add(self.of_schema(part, at, chain + 1)?);
            }
        }
        Ok(count)
    }

    /// Returns what a reference points at, if it is a JSON Pointer into this document.
    fn target(&self, reference: &str) -> Option<&'s JsonObject> {
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
