//! Request bodies: which media type to send, and whether the body's properties become separate arguments.

use indexmap::{IndexMap, IndexSet};
use onetool_core::JsonObject;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::model::{Body, BodyKind, Encoding, Field, Place, Style};
use super::parameter::{collection_format_encoding, move_default_to_description, style_encoding};
use super::schemas::Schemas;
use crate::dialect::Dialect;
use crate::media_type::{essence, is_json};
use crate::schema::is_true;

/// Maximum number of schemas to inspect for the properties of one body.
const MAX_PARTS: usize = 64;

const FILE_HINT: &str =
    "File contents as base64, or as a data URI such as data:image/png;name=a.png;base64,….";

/// The properties of an object that is sent as the body.
#[derive(Default)]
struct ObjectShape {
    /// By name: the schema, and the document that contains it.
    properties: IndexMap<String, (usize, Value)>,
    /// A set, because several parts may require the same property.
    required: IndexSet<String>,
    accepts_extra: bool,
}

/// A body as the description declares it.
struct DeclaredBody {
    document: usize,
    media_type: String,
    schema: Value,
    /// The `encoding` of 3.x, or the `collectionFormat` of 2.0, by property.
    encodings: JsonObject,
    required: bool,
    description: Option<String>,
}

impl Schemas<'_, '_> {
    /// Plans a body of OpenAPI 3.
    pub(super) fn request_body(
        &mut self,
        document: usize,
        body: Value,
        arguments: &mut Arguments,
    ) -> Result<Option<Body>, String> {
        let (document, mut body) = self.references.follow(document, body)?;
        let required = is_true(body.get("required"));
        let description = body.get("description").and_then(Value::as_str).map(str::to_owned);
        let Some(Value::Object(content)) = body.get_mut("content").map(Value::take) else { return Ok(None) };
        let best =
            content.into_iter().enumerate().min_by_key(|(at, (media_type, _))| (rank(media_type), *at));
        let Some((_, (media_type, mut media))) = best else { return Ok(None) };
        let schema = media.get_mut("schema").map(Value::take).unwrap_or_default();
        let encodings = match media.get_mut("encoding").map(Value::take) {
            Some(Value::Object(encodings)) => encodings,
            _ => JsonObject::new(),
        };
        let declared = DeclaredBody { document, media_type, schema, encodings, required, description };
        self.body(declared, arguments).map(Some)
    }

    /// Plans a body of Swagger 2.0: one `body` parameter, or the fields of a form.
    pub(super) fn swagger_body(
        &mut self,
        parameters: Vec<(usize, Value)>,
        consumes: Option<&Value>,
        arguments: &mut Arguments,
    ) -> Result<Option<Body>, String> {
        let types: Vec<&str> =
            consumes.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let Some(document) = parameters.first().map(|(document, _)| *document) else { return Ok(None) };
        let mut properties = JsonObject::new();
        let mut encodings = JsonObject::new();
        let mut required = Vec::new();
        let mut has_file = false;
        for (document, mut parameter) in parameters {
            let description = parameter.get("description").and_then(Value::as_str).map(str::to_owned);
            let is_required = is_true(parameter.get("required"));
            if parameter.get("in").is_some_and(|it| it == "body") {
                let best = types.iter().enumerate().min_by_key(|(at, it)| (rank(it), *at)).map(|(_, it)| *it);
                let media_type = best.unwrap_or("application/json").to_owned();
                let schema = parameter.get_mut("schema").map(Value::take).unwrap_or_default();
                let encodings = JsonObject::new();
                let declared = DeclaredBody {
                    document,
                    media_type,
                    schema,
                    encodings,
                    required: is_required,
                    description,
                };
                return self.body(declared, arguments).map(Some);
            }
            let Value::Object(mut parameter) = parameter else { continue };
            let Some(Value::String(name)) = parameter.shift_remove("name") else { continue };
            has_file |= parameter.get("type").is_some_and(|it| it == "file");
            if is_required {
                required.push(Value::from(name.clone()));
            }
            let format = parameter.get("collectionFormat").and_then(Value::as_str);
            encodings.insert(name.clone(), json!({"collectionFormat": format.unwrap_or("csv")}));
            parameter.retain(|key, _| !matches!(key.as_str(), "in" | "required"));
            properties.insert(name, Value::Object(parameter));
        }
        let is_multipart = has_file || types.contains(&"multipart/form-data");
        let media_type =
            if is_multipart { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
        let is_required = !required.is_empty();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let media_type = media_type.to_owned();
        let declared = DeclaredBody {
            document,
            media_type,
            schema,
            encodings,
            required: is_required,
            description: None,
        };
        self.body(declared, arguments).map(Some)
    }

    fn body(&mut self, declared: DeclaredBody, arguments: &mut Arguments) -> Result<Body, String> {
        let kind = self.body_kind(declared.document, &declared.media_type, &declared.schema);
        let media_type = match kind {
            BodyKind::Json if declared.media_type.contains('*') => "application/json".to_owned(),
            BodyKind::Binary if declared.media_type.contains('*') => "application/octet-stream".to_owned(),
            _ => declared.media_type.clone(),
        };
        let mut shape = ObjectShape::default();
        let has_fields = matches!(kind, BodyKind::Json | BodyKind::Form | BodyKind::Multipart);
        let is_flat = has_fields
            && self.collect_shape(
                declared.document,
                declared.schema.clone(),
                &mut MAX_PARTS.clone(),
                &mut shape,
            )?
            && !shape.properties.is_empty();
        let mut fields = Vec::new();
        if is_flat && arguments.names.are_free(shape.properties.keys().map(String::as_str)) {
            let accepts_extra = shape.accepts_extra;
            let fields = self.flat_fields(kind, &declared, shape, arguments);
            let required = declared.required;
            return Ok(Body { media_type, kind, argument: None, fields, accepts_extra, required });
        }
        if matches!(kind, BodyKind::Form | BodyKind::Multipart) {
            for (wire_name, (document, schema)) in &shape.properties {
                let encoding = declared.encodings.get(wire_name);
                fields.push(self.field(kind, wire_name.clone(), wire_name, *document, schema, encoding));
            }
        }
        let mut schema = match kind {
            BodyKind::Text => json!({"type": "string"}),
            BodyKind::Binary => json!({"type": "string", "description": FILE_HINT}),
            _ => self.translate(declared.document, declared.schema),
        };
        if let (Value::Object(schema), Some(description)) = (&mut schema, &declared.description)
            && !schema.contains_key("description")
        {
            schema.insert("description".into(), description.as_str().into());
        }
        let name = arguments.names.assign("body", "content");
        if let Value::Object(schema) = &mut schema {
            move_default_to_description(schema);
        }
        arguments.properties.insert(name.clone(), schema);
        let required = declared.required;
        if required {
            arguments.required.push(name.clone().into());
        }
        Ok(Body { media_type, kind, argument: Some(name), fields, accepts_extra: false, required })
    }

    /// Turns every property into an argument.
    fn flat_fields(
        &mut self,
        kind: BodyKind,
        declared: &DeclaredBody,
        shape: ObjectShape,
        arguments: &mut Arguments,
    ) -> Vec<Field> {
        let mut fields = Vec::with_capacity(shape.properties.len());
        let mut names = IndexMap::new();
        for (wire_name, (document, schema)) in shape.properties {
            let name = arguments.names.assign(&wire_name, "body");
            let encoding = declared.encodings.get(&wire_name);
            let field = self.field(kind, name.clone(), &wire_name, document, &schema, encoding);
            let mut schema =
                if field.is_file { file_schema(&schema) } else { self.translate(document, schema) };
            if let Value::Object(schema) = &mut schema {
                move_default_to_description(schema);
            }
            arguments.properties.insert(name.clone(), schema);
            fields.push(field);
            names.insert(wire_name, name);
        }
        let is_read_only =
            |name: &str| is_true(arguments.properties.get(name).and_then(|it| it.get("readOnly")));
        let required = shape.required.iter().filter_map(|wire_name| names.get(wire_name));
        let required: Vec<Value> =
            required.filter(|name| !is_read_only(name)).cloned().map(Value::from).collect();
        if declared.required {
            arguments.required.extend(required);
        } else if !required.is_empty() {
            // The body may be omitted, but if it is sent, it must be complete.
            for name in names.into_values() {
                let others: Vec<Value> = required.iter().filter(|it| **it != *name).cloned().collect();
                if !others.is_empty() {
                    arguments.dependent.insert(name, Value::Array(others));
                }
            }
        }
        fields
    }

    fn field(
        &mut self,
        kind: BodyKind,
        name: String,
        wire_name: &str,
        document: usize,
        schema: &Value,
        encoding: Option<&Value>,
    ) -> Field {
        let content_type = encoding.and_then(|it| it.get("contentType")).and_then(Value::as_str);
        let content_type = content_type.map(|it| it.split(',').next().unwrap_or(it).trim().to_owned());
        let is_form = matches!(kind, BodyKind::Form | BodyKind::Multipart);
        let is_file = kind == BodyKind::Multipart && self.is_file(document, schema, content_type.as_deref());
        let has_style =
            |it: &&Value| ["style", "explode", "allowReserved"].iter().any(|key| it.get(key).is_some());
        let encoding = match encoding.filter(|_| is_form) {
            Some(it) if self.references.dialect(document) == Dialect::Swagger2 => {
                let format = it.get("collectionFormat").and_then(Value::as_str);
                Some(collection_format_encoding(format, Place::Query))
            }
            Some(it) if has_style(&it) => Some(style_encoding(it, Place::Query)),
            _ if content_type.as_deref().is_some_and(is_json) => {
                Some(Encoding { style: Style::Json, explode: false, reserved: false })
            }
            _ => None,
        };
        Field { name, wire_name: wire_name.to_owned(), encoding, is_file, content_type }
    }

    /// Returns whether a property of a multipart body is a file, or a list of files.
    fn is_file(&mut self, document: usize, schema: &Value, content_type: Option<&str>) -> bool {
        let Ok((document, schema)) = self.references.follow(document, schema.clone()) else { return false };
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let is_binary = text("format") == Some("binary") || text("type") == Some("file");
        let is_media = schema.get("contentMediaType").is_some() && schema.get("contentEncoding").is_none();
        let is_sent_as_file = text("type") == Some("string")
            && text("format").is_none()
            && content_type.is_some_and(|it| !is_json(it) && !it.starts_with("text/"));
        if is_binary || is_media || is_sent_as_file {
            return true;
        }
        let items = schema.get("items").filter(|_| text("type") == Some("array"));
        // Only one level: no form has lists of lists of files.
        items.is_some_and(|items| {
            let items = self.references.follow(document, items.clone());
            items.is_ok_and(|(_, items)| items.get("format").is_some_and(|it| it == "binary"))
        })
    }

    /// Collects the properties of an object; returns `false` if the schema is not a plain object.
    fn collect_shape(
        &mut self,
        document: usize,
        schema: Value,
        parts_left: &mut usize,
        shape: &mut ObjectShape,
    ) -> Result<bool, String> {
        let Some(left) = parts_left.checked_sub(1) else { return Ok(false) };
        *parts_left = left;
        let (document, schema) = self.references.follow(document, schema)?;
        let Value::Object(mut schema) = schema else { return Ok(false) };
        let unsupported =
            ["oneOf", "anyOf", "not", "if", "patternProperties", "propertyNames", "minProperties"];
        let is_object = match schema.get("type") {
            None => schema.contains_key("properties") || schema.contains_key("allOf"),
            Some(Value::Array(types)) => types.len() == 1 && types[0] == "object",
            Some(one) => one == "object",
        };
        let is_nullable = is_true(schema.get("nullable"));
        if !is_object || is_nullable || unsupported.iter().any(|key| schema.contains_key(*key)) {
            return Ok(false);
        }
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => shape.accepts_extra = true,
            Some(Value::Object(any)) if any.is_empty() => shape.accepts_extra = true,
            Some(_) => return Ok(false),
        }
        if let Some(Value::Array(all)) = schema.shift_remove("allOf") {
            for part in all {
                if !self.collect_shape(document, part, parts_left, shape)? {
                    return Ok(false);
                }
            }
        }
        if let Some(Value::Object(properties)) = schema.shift_remove("properties") {
            for (name, property) in properties {
                shape.properties.insert(name, (document, property));
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        shape.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
        Ok(true)
    }

    fn body_kind(&mut self, document: usize, media_type: &str, schema: &Value) -> BodyKind {
        let essence = essence(media_type);
        if is_json(&essence) {
            return BodyKind::Json;
        }
        let is_text = essence.starts_with("text/")
            || ["xml", "yaml", "javascript", "graphql", "sql", "ndjson"]
                .iter()
                .any(|it| essence.contains(it));
        match essence.as_str() {
            "application/x-www-form-urlencoded" => BodyKind::Form,
            it if it.starts_with("multipart/") => BodyKind::Multipart,
            "*/*" | "application/*" if !self.is_file(document, schema, None) => BodyKind::Json,
            _ if is_text => BodyKind::Text,
            _ => BodyKind::Binary,
        }
    }
}

/// Returns the schema of a file argument, which is always text.
fn file_schema(schema: &Value) -> Value {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description}\n{FILE_HINT}").trim().to_owned();
    if schema.get("type").is_some_and(|it| it == "array") {
        return json!({"type": "array", "items": {"type": "string"}, "description": description});
    }
    json!({"type": "string", "description": description})
}

/// Ranks media types; the one with the lowest rank is sent.
fn rank(media_type: &str) -> u8 {
    match essence(media_type).as_str() {
        "application/json" => 0,
        // A list of edits is harder to write than the changed value.
        "application/json-patch+json" => 3,
        it if is_json(it) => 1,
        "*/*" | "application/*" => 2,
        "application/x-www-form-urlencoded" | "multipart/form-data" => 4,
        it if it.starts_with("text/") => 5,
        _ => 6,
    }
}
