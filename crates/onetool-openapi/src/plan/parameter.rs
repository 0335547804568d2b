//! Parameters outside the body.

use onetool_core::JsonObject;
use serde_json::Value;

use super::model::{Encoding, Place, Style};
use super::schemas::Schemas;
use crate::dialect::Dialect;
use crate::schema::is_true;

/// A parameter that becomes an argument.
pub(super) struct Parameter {
    pub(super) wire_name: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) encoding: Encoding,
    /// Its translated schema, with its description.
    pub(super) schema: JsonObject,
}

/// An entry in a list of parameters.
pub(super) enum ParameterEntry {
    Parameter(Box<Parameter>),
    /// Swagger 2.0's `in: body` or `in: formData`, with the document that contains it.
    Body(usize, Value),
    /// A parameter without a name, which cannot be sent.
    Nameless,
    /// A parameter that the specification says to ignore.
    Ignored,
}

impl Schemas<'_, '_> {
    /// Reads a parameter that is not a reference.
    pub(super) fn parameter(&mut self, document: usize, value: Value) -> Result<ParameterEntry, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(wire_name) = text("name").filter(|it| !it.is_empty()) else {
            return Ok(ParameterEntry::Nameless);
        };
        let place = match text("in").as_deref() {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            Some("cookie") => Place::Cookie,
            Some("body" | "formData") => return Ok(ParameterEntry::Body(document, value)),
            Some(other) => return Err(format!("parameter '{wire_name}' has an invalid 'in': '{other}'")),
            None => return Err(format!("parameter '{wire_name}' has no 'in'")),
        };
        let set_by_us = ["accept", "content-type", "authorization"];
        if place == Place::Header && set_by_us.contains(&wire_name.to_ascii_lowercase().as_str()) {
            return Ok(ParameterEntry::Ignored);
        }
        let dialect = self.references.dialect(document);
        let encoding = encoding(&value, place, dialect);
        let required = place == Place::Path || is_true(value.get("required"));
        let description = text("description").filter(|it| !it.trim().is_empty());
        let (deprecated, example) = (is_true(value.get("deprecated")), value.get("example").cloned());
        let schema = if dialect == Dialect::Swagger2 {
            let mut schema = value;
            if let Value::Object(schema) = &mut schema {
                schema.retain(|key, _| !matches!(key.as_str(), "name" | "in" | "required" | "description"));
            }
            schema
        } else {
            let content = value.get("content").and_then(Value::as_object);
            let holder = content.and_then(|content| content.values().next()).unwrap_or(&value);
            holder.get("schema").cloned().unwrap_or_default()
        };
        let Value::Object(mut schema) = self.translate(document, schema) else {
            return Err(format!("the schema of parameter '{wire_name}' accepts no value"));
        };
        if let Some(description) = description {
            schema.insert("description".into(), description.into());
        }
        if deprecated {
            schema.insert("deprecated".into(), true.into());
        }
        if let Some(example) = example.filter(|it| !schema.contains_key("examples") && !it.is_object()) {
            schema.insert("examples".into(), Value::Array(vec![example]));
        }
        move_default_to_description(&mut schema);
        Ok(ParameterEntry::Parameter(Box::new(Parameter { wire_name, place, required, encoding, schema })))
    }
}

/// Moves a schema's default into its description.
///
/// Callers fill in the defaults of a schema. Here that would send values that nobody asked for: a default in the body
/// of an update would overwrite existing data.
pub(super) fn move_default_to_description(schema: &mut JsonObject) {
    let Some(default) = schema.shift_remove("default") else { return };
    let default = default.to_string();
    if default.len() > 100 {
        return;
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    if description.to_ascii_lowercase().contains("default") {
        return;
    }
    let separator = if description.is_empty() { "" } else { " " };
    let description = format!("{}{separator}(default: {default})", description.trim_end());
    schema.insert("description".into(), description.into());
}

/// Returns how a parameter is encoded.
fn encoding(parameter: &Value, place: Place, dialect: Dialect) -> Encoding {
    if dialect == Dialect::Swagger2 {
        let format = parameter.get("collectionFormat").and_then(Value::as_str);
        return collection_format_encoding(format, place);
    }
    if parameter.get("content").is_some_and(Value::is_object) {
        return Encoding { style: Style::Json, explode: false, reserved: false };
    }
    style_encoding(parameter, place)
}

/// Returns the encoding that `style`, `explode` and `allowReserved` describe, with the defaults for the place.
pub(super) fn style_encoding(holder: &Value, place: Place) -> Encoding {
    let style = match (holder.get("style").and_then(Value::as_str), place) {
        (Some("matrix"), Place::Path) => Style::Matrix,
        (Some("label"), Place::Path) => Style::Label,
        (Some("spaceDelimited"), Place::Query) => Style::Space,
        (Some("pipeDelimited"), Place::Query) => Style::Pipe,
        (Some("deepObject"), Place::Query) => Style::Deep,
        _ => default_style(place),
    };
    let explode = holder.get("explode").and_then(Value::as_bool).unwrap_or(style == Style::Form);
    // Only a query may contain reserved characters; in a path they would change the path.
    let reserved = place == Place::Query && is_true(holder.get("allowReserved"));
    Encoding { style, explode, reserved }
}

/// Returns the encoding that Swagger 2.0's `collectionFormat` describes.
pub(super) fn collection_format_encoding(format: Option<&str>, place: Place) -> Encoding {
    let (style, explode) = match format {
        Some("ssv") => (Style::Space, false),
        Some("tsv") => (Style::Tab, false),
        Some("pipes") => (Style::Pipe, false),
        Some("multi") => (default_style(place), true),
        _ => (default_style(place), false),
    };
    Encoding { style, explode, reserved: false }
}

fn default_style(place: Place) -> Style {
    match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    }
}
