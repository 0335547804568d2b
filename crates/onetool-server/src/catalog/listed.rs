//! Schemas in a form that every client accepts.

use std::borrow::Cow;
use std::sync::Arc;

use onetool_core::JsonObject;
use serde_json::{Value, json};

use super::portable::{descriptive, portable};

/// Returns an input schema in a form that every client accepts: `type: object`, and no union at the top level.
///
/// Several clients reject a whole tool list because of one top-level `oneOf`. Such a schema is listed with the
/// properties of all its variants, each optional unless all variants require it. Validation uses the original schema.
pub(super) fn listed_schema(schema: &Arc<JsonObject>) -> Arc<JsonObject> {
    compilable(without_unions(schema))
}

/// Returns an output schema in a form that every client accepts.
pub(super) fn listed_output(schema: &Arc<JsonObject>) -> Arc<JsonObject> {
    compilable(schema.clone())
}

/// Returns an output schema that describes results without rejecting any.
pub(super) fn descriptive_output(schema: &Arc<JsonObject>) -> Arc<JsonObject> {
    Arc::new(descriptive(schema))
}

fn compilable(schema: Arc<JsonObject>) -> Arc<JsonObject> {
    match portable(&schema) {
        Cow::Borrowed(_) => schema,
        Cow::Owned(changed) => Arc::new(changed),
    }
}

fn without_unions(schema: &Arc<JsonObject>) -> Arc<JsonObject> {
    const UNIONS: [&str; 3] = ["oneOf", "anyOf", "allOf"];
    let has_union = UNIONS.iter().any(|union| schema.contains_key(*union));
    if !has_union && schema.get("type").is_some_and(|kind| kind == "object") {
        return schema.clone();
    }
    let mut listed = JsonObject::new();
    listed.insert("type".into(), json!("object"));
    for (key, value) in schema.iter().filter(|(key, _)| !UNIONS.contains(&key.as_str()) && *key != "type") {
        listed.insert(key.clone(), value.clone());
    }
    for union in UNIONS {
        let Some(variants) = schema.get(union).and_then(Value::as_array) else { continue };
        let variants: Vec<&JsonObject> = variants.iter().filter_map(|it| target(it, schema)).collect();
        merge_variants(&mut listed, &variants, union == "allOf");
    }
    Arc::new(listed)
}

fn merge_variants(listed: &mut JsonObject, variants: &[&JsonObject], all_apply: bool) {
    let mut required = names_of(listed.get("required"));
    let properties = listed.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        for (name, property) in
            variants.iter().filter_map(|variant| variant.get("properties")?.as_object()).flatten()
        {
            properties.entry(name).or_insert_with(|| property.clone());
        }
    }
    for name in variants.iter().flat_map(|variant| names_of(variant.get("required"))) {
        let is_required =
            all_apply || variants.iter().all(|variant| names_of(variant.get("required")).contains(&name));
        if is_required && !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        listed.insert("required".into(), json!(required));
    }
}

fn names_of(required: Option<&Value>) -> Vec<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns a variant, or the schema that it refers to in the same document.
fn target<'a>(variant: &'a Value, root: &'a JsonObject) -> Option<&'a JsonObject> {
    let Some(reference) = variant.get("$ref").and_then(Value::as_str) else { return variant.as_object() };
    let mut parts = reference.strip_prefix("#/")?.split('/');
    let first = root.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))?.as_object()
}

#[cfg(test)]
mod tests;
