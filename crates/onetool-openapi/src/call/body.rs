//! Encodes request bodies: JSON, forms, multipart, text and bytes.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use onetool_core::{JsonObject, ToolError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::style::{Escape, encode_pairs, to_text};
use crate::plan::model::{Body, BodyKind, Encoding, Field, Style};

const OCTET_STREAM: &str = "application/octet-stream";

const STANDARD: GeneralPurpose = lenient_base64(&base64::alphabet::STANDARD);
const URL_SAFE: GeneralPurpose = lenient_base64(&base64::alphabet::URL_SAFE);

/// Decodes base64 with or without padding.
const fn lenient_base64(alphabet: &base64::alphabet::Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    general_purpose::GeneralPurpose::new(alphabet, config)
}

/// Returns the content type and the bytes; `None` if the body is optional and the call has no argument for it.
pub(super) fn encode(plan: &Body, mut args: JsonObject) -> Result<Option<(String, Vec<u8>)>, ToolError> {
    let value = match &plan.argument {
        Some(name) => match args.shift_remove(name) {
            Some(value) => value,
            None => return Ok(None),
        },
        None => {
            let mut object = JsonObject::new();
            for field in &plan.fields {
                if let Some(value) = args.shift_remove(&field.name) {
                    object.insert(field.wire_name.clone(), value);
                }
            }
            if plan.accepts_extra {
                object.extend(args);
            }
            if object.is_empty() && !plan.required {
                return Ok(None);
            }
            Value::Object(object)
        }
    };
    let media_type = plan.media_type.clone();
    Ok(Some(match plan.kind {
        BodyKind::Json => (media_type, value.to_string().into_bytes()),
        BodyKind::Text => (with_charset(media_type), to_text(&value).into_bytes()),
        BodyKind::Form => (media_type, form(plan, &value)?.into_bytes()),
        BodyKind::Multipart => multipart(plan, &value)?,
        BodyKind::Binary => {
            let file =
                FileArgument::parse(&to_text(&value)).ok_or_else(|| not_a_file(plan.argument.as_deref()))?;
            let file_type = file.media_type.filter(|_| media_type == OCTET_STREAM);
            (file_type.unwrap_or(media_type), file.bytes)
        }
    }))
}

fn with_charset(media_type: String) -> String {
    if media_type.starts_with("text/") && !media_type.contains("charset") {
        return format!("{media_type}; charset=utf-8");
    }
    media_type
}

/// A property to send: its wire name, its value, and its plan if there is one.
type Property<'a> = (&'a str, &'a Value, Option<&'a Field>);

fn properties<'a>(plan: &'a Body, value: &'a Value) -> Result<Vec<Property<'a>>, ToolError> {
    let Value::Object(entries) = value else {
        return Err(ToolError::Arguments { reason: "a form body must be an object".into() });
    };
    let field = |wire_name: &str| plan.fields.iter().find(|field| field.wire_name == wire_name);
    let entries = entries.iter().filter(|(_, value)| !value.is_null());
    Ok(entries.map(|(wire_name, value)| (wire_name.as_str(), value, field(wire_name))).collect())
}

fn form(plan: &Body, value: &Value) -> Result<String, ToolError> {
    let mut pairs = Vec::new();
    for (wire_name, value, field) in properties(plan, value)? {
        let encoding = field.and_then(|it| it.encoding).unwrap_or_else(|| default_encoding(value));
        let escape = if encoding.reserved { Escape::Url { allow_reserved: true } } else { Escape::Form };
        encode_pairs(&mut pairs, wire_name, value, encoding, escape);
    }
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(pairs.join("&"))
}

/// Sends a list item by item, an object as JSON.
fn default_encoding(value: &Value) -> Encoding {
    let style = if value.is_object() { Style::Json } else { Style::Form };
    Encoding { style, explode: true, reserved: false }
}

/// One part of a multipart body.
struct Part {
    head: String,
    bytes: Vec<u8>,
}

fn multipart(plan: &Body, value: &Value) -> Result<(String, Vec<u8>), ToolError> {
    let mut parts = Vec::new();
    for (wire_name, value, field) in properties(plan, value)? {
        match (value, field.and_then(|it| it.encoding)) {
            (_, Some(encoding)) if !field.is_some_and(|it| it.is_file) && encoding.style != Style::Json => {
                let mut pairs = Vec::new();
                encode_pairs(&mut pairs, wire_name, value, encoding, Escape::None);
                parts.extend(pairs.into_iter().map(|(name, value)| Part {
                    head: content_disposition(&name, None),
                    bytes: value.into_bytes(),
                }));
            }
            (Value::Array(items), _) => {
                for item in items.iter().filter(|it| !it.is_null()) {
                    parts.push(part(wire_name, item, field)?);
                }
            }
            (one, _) => parts.push(part(wire_name, one, field)?),
        }
    }
    let boundary = boundary(&parts);
    let mut body = Vec::with_capacity(parts.iter().map(|it| it.head.len() + it.bytes.len() + 80).sum());
    for Part { head, bytes } in parts {
        body.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(&bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let media_type = plan.media_type.split(';').next().unwrap_or("multipart/form-data").trim();
    Ok((format!("{media_type}; boundary={boundary}"), body))
}

fn part(wire_name: &str, value: &Value, field: Option<&Field>) -> Result<Part, ToolError> {
    let declared_type = field.and_then(|it| it.content_type.clone()).filter(|it| !it.contains('*'));
    if field.is_some_and(|it| it.is_file) {
        let file = FileArgument::parse(&to_text(value))
            .ok_or_else(|| not_a_file(field.map(|it| it.name.as_str())))?;
        let media_type = file.media_type.or(declared_type).unwrap_or_else(|| OCTET_STREAM.to_owned());
        let name = file.name.unwrap_or_else(|| wire_name.to_owned());
        let disposition = content_disposition(wire_name, Some(&name));
        let head = format!("{disposition}\r\nContent-Type: {}", strip_line_breaks(&media_type));
        return Ok(Part { head, bytes: file.bytes });
    }
    let media_type = declared_type.or_else(|| value.is_object().then(|| "application/json".to_owned()));
    let mut head = content_disposition(wire_name, None);
    if let Some(media_type) = media_type {
        head = format!("{head}\r\nContent-Type: {}", strip_line_breaks(&media_type));
    }
    Ok(Part { head, bytes: to_text(value).into_bytes() })
}

fn content_disposition(name: &str, file: Option<&str>) -> String {
    let escape = |text: &str| text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let file = file.map(|it| format!("; filename=\"{}\"", escape(it))).unwrap_or_default();
    format!("Content-Disposition: form-data; name=\"{}\"{file}", escape(name))
}

fn strip_line_breaks(text: &str) -> String {
    text.replace(['\r', '\n'], "")
}

/// Returns a boundary that occurs in no part: content cannot contain a hash of itself.
fn boundary(parts: &[Part]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(&part.head);
        hasher.update(&part.bytes);
    }
    let hash: [u8; 32] = hasher.finalize().into();
    hash[..16].iter().fold("onetool-".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn not_a_file(name: Option<&str>) -> ToolError {
    let name = name.unwrap_or("body");
    ToolError::Arguments { reason: format!("'{name}' must be a file, as base64 or as a data URI") }
}

/// A file that was passed as an argument.
struct FileArgument {
    bytes: Vec<u8>,
    media_type: Option<String>,
    name: Option<String>,
}

impl FileArgument {
    /// Parses base64, or a data URI: `data:media/type;name=file.txt;base64,…`.
    fn parse(text: &str) -> Option<Self> {
        let Some(uri) = text.strip_prefix("data:") else {
            return Some(Self { bytes: decode_base64(text)?, media_type: None, name: None });
        };
        let (head, data) = uri.split_once(',')?;
        let mut parameters = head.split(';');
        let media_type = parameters.next().filter(|it| it.contains('/')).map(str::to_owned);
        let (mut is_base64, mut name) = (false, None);
        for parameter in parameters {
            match parameter.split_once('=') {
                Some(("name" | "filename", value)) => {
                    name = Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned());
                }
                None if parameter.eq_ignore_ascii_case("base64") => is_base64 = true,
                _ => {}
            }
        }
        let bytes = if is_base64 {
            decode_base64(data)?
        } else {
            percent_encoding::percent_decode_str(data).collect()
        };
        Some(Self { bytes, media_type, name })
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(&text).or_else(|_| URL_SAFE.decode(&text)).ok()
}
