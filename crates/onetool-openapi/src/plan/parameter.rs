//! Parameters outside the body.

use serde_json::{Map, Value};

use super::Planner;
use super::model::{Encoding, Place, Style};
use crate::schema::{Dialect, is_true};

/// A parameter, ready to become an argument.
pub(super) struct Parameter {
    pub(super) wire: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) encoding: Encoding,
    /// Its translated schema, with description.
    pub(super) schema: Map<String, Value>,
}

/// Parameters that Swagger 2.0 has instead of a body.
pub(super) enum Found {
    Parameter(Box<Parameter>),
    /// `in: body` or `in: formData`, with the document that it stands in.
    Body(usize, Value),
    /// One that cannot be sent.
    Nameless,
    /// One that the specification says to ignore.
    Ignored,
}

impl Planner<'_, '_> {
    /// Reads a parameter that has no reference left.
    pub(super) fn parameter(&mut self, document: usize, value: Value) -> Result<Found, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(wire) = text("name").filter(|it| !it.is_empty()) else {
            return Ok(Found::Nameless);
        };
        let place = match text("in").as_deref() {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            Some("cookie") => Place::Cookie,
            Some("body" | "formData") => return Ok(Found::Body(document, value)),
            other => {
                let other = other.unwrap_or("nothing");
                return Err(format!("parameter '{wire}' is in '{other}', which is no place for one"));
            }
        };
        let set_by_us = ["accept", "content-type", "authorization"];
        if place == Place::Header && set_by_us.contains(&wire.to_ascii_lowercase().as_str()) {
            return Ok(Found::Ignored);
        }
        let dialect = self.links.dialect(document);
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
            return Err(format!("parameter '{wire}' accepts nothing"));
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
        default_in_words(&mut schema);
        Ok(Found::Parameter(Box::new(Parameter { wire, place, required, encoding, schema })))
    }
}

/// Says a default in the description instead of the schema.
///
/// Callers fill in a schema's defaults. Here that would send what nobody asked for: a default in the body of an update
/// would overwrite what is there.
pub(super) fn default_in_words(schema: &mut Map<String, Value>) {
    let Some(default) = schema.shift_remove("default") else { return };
    let written = default.to_string();
    if written.len() > 100 {
        return;
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    if description.to_ascii_lowercase().contains("default") {
        return;
    }
    let separator = if description.is_empty() { "" } else { " " };
    let description = format!("{}{separator}(default: {written})", description.trim_end());
    schema.insert("description".into(), description.into());
}

/// Returns how a parameter is written.
fn encoding(parameter: &Value, place: Place, dialect: Dialect) -> Encoding {
    if dialect == Dialect::Swagger2 {
        let format = parameter.get("collectionFormat").and_then(Value::as_str);
        return collection_format(format, place);
    }
    if parameter.get("content").is_some_and(Value::is_object) {
        return Encoding { style: Style::Json, explode: false, reserved: false };
    }
    styled(parameter, place)
}

/// Returns what `style`, `explode` and `allowReserved` say, with the defaults of the place.
pub(super) fn styled(holder: &Value, place: Place) -> Encoding {
    let usual = match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    };
    let style = match (holder.get("style").and_then(Value::as_str), place) {
        (Some("matrix"), Place::Path) => Style::Matrix,
        (Some("label"), Place::Path) => Style::Label,
        (Some("spaceDelimited"), Place::Query) => Style::Space,
        (Some("pipeDelimited"), Place::Query) => Style::Pipe,
        (Some("deepObject"), Place::Query) => Style::Deep,
        _ => usual,
    };
    let explode = holder.get("explode").and_then(Value::as_bool).unwrap_or(style == Style::Form);
    // Only a query can hold reserved characters; a path would become another one.
    let reserved = place == Place::Query && is_true(holder.get("allowReserved"));
    Encoding { style, explode, reserved }
}

/// Returns what Swagger 2.0's `collectionFormat` says.
pub(super) fn collection_format(format: Option<&str>, place: Place) -> Encoding {
    let usual = match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    };
    let (style, explode) = match format {
        Some("ssv") => (Style::Space, false),
        Some("tsv") => (Style::Tab, false),
        Some("pipes") => (Style::Pipe, false),
        Some("multi") => (usual, true),
        _ => (usual, false),
    };
    Encoding { style, explode, reserved: false }
}
