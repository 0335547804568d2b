//! Request bodies: JSON, forms, multipart, text and bytes.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use onetool_core::{JsonObject, ToolError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::request::is_given;
use super::style::{self, Escape, plain};
use crate::plan::model::{Body, BodyKind, Encoding, Field, Style};

const OCTETS: &str = "application/octet-stream";

/// Reads base64 with or without padding.
const STANDARD: GeneralPurpose = engine(&base64::alphabet::STANDARD);
const URL_SAFE: GeneralPurpose = engine(&base64::alphabet::URL_SAFE);

const fn engine(alphabet: &base64::alphabet::Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    general_purpose::GeneralPurpose::new(alphabet, config)
}

/// Returns content type and bytes; nothing if no argument of an optional body is given.
pub(super) fn encoded(plan: &Body, mut args: JsonObject) -> Result<Option<(String, Vec<u8>)>, ToolError> {
    let value = match &plan.whole {
        Some(name) => match args.shift_remove(name) {
            Some(value) => value,
            None => return Ok(None),
        },
        None => {
            let mut object = JsonObject::new();
            for field in &plan.fields {
                if let Some(value) = args.shift_remove(&field.name) {
                    object.insert(field.wire.clone(), value);
                }
            }
            if plan.extra {
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
        BodyKind::Text => (with_charset(media_type), plain(&value).into_bytes()),
        BodyKind::Form => (media_type, form(plan, &value)?.into_bytes()),
        BodyKind::Multipart => multipart(plan, &value)?,
        BodyKind::Binary => {
            let file = File::read(&plain(&value)).ok_or_else(|| not_a_file(plan.whole.as_deref()))?;
            let named = file.media_type.filter(|_| media_type == OCTETS);
            (named.unwrap_or(media_type), file.bytes)
        }
    }))
}

fn with_charset(media_type: String) -> String {
    if media_type.starts_with("text/") && !media_type.contains("charset") {
        return format!("{media_type}; charset=utf-8");
    }
    media_type
}

/// A property that is given: its name on the wire, its value, and its plan if there is one.
type Given<'a> = (&'a str, &'a Value, Option<&'a Field>);

fn fields_of<'a>(plan: &'a Body, value: &'a Value) -> Result<Vec<Given<'a>>, ToolError> {
    let Value::Object(entries) = value else {
        return Err(ToolError::Arguments { reason: "the body of a form has to be an object".into() });
    };
    let planned = |wire: &str| plan.fields.iter().find(|field| field.wire == wire);
    let given = entries.iter().filter(|(_, value)| is_given(Some(value)));
    Ok(given.map(|(wire, value)| (wire.as_str(), value, planned(wire))).collect())
}

fn form(plan: &Body, value: &Value) -> Result<String, ToolError> {
    let mut pairs = Vec::new();
    for (wire, value, field) in fields_of(plan, value)? {
        let encoding = field.and_then(|it| it.encoding).unwrap_or_else(|| usual(value));
        let escape = if encoding.reserved { Escape::Url(true) } else { Escape::Form };
        style::named(&mut pairs, wire, value, encoding, escape);
    }
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(pairs.join("&"))
}

/// A list is sent item by item, an object as JSON.
fn usual(value: &Value) -> Encoding {
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
    for (wire, value, field) in fields_of(plan, value)? {
        match (value, field.and_then(|it| it.encoding)) {
            (_, Some(encoding)) if !field.is_some_and(|it| it.file) && encoding.style != Style::Json => {
                let mut pairs = Vec::new();
                style::named(&mut pairs, wire, value, encoding, Escape::Nothing);
                parts.extend(
                    pairs.into_iter().map(|(name, value)| Part {
                        head: disposition(&name, None),
                        bytes: value.into_bytes(),
                    }),
                );
            }
            (Value::Array(items), _) => {
                for item in items.iter().filter(|it| !it.is_null()) {
                    parts.push(part(wire, item, field)?);
                }
            }
            (one, _) => parts.push(part(wire, one, field)?),
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

fn part(wire: &str, value: &Value, field: Option<&Field>) -> Result<Part, ToolError> {
    let planned = field.and_then(|it| it.content_type.clone()).filter(|it| !it.contains('*'));
    if field.is_some_and(|it| it.file) {
        let file = File::read(&plain(value)).ok_or_else(|| not_a_file(field.map(|it| it.name.as_str())))?;
        let media_type = file.media_type.or(planned).unwrap_or_else(|| OCTETS.to_owned());
        let name = file.name.unwrap_or_else(|| wire.to_owned());
        let head = format!("{}\r\nContent-Type: {}", disposition(wire, Some(&name)), one_line(&media_type));
        return Ok(Part { head, bytes: file.bytes });
    }
    let media_type = planned.or_else(|| value.is_object().then(|| "application/json".to_owned()));
    let mut head = disposition(wire, None);
    if let Some(media_type) = media_type {
        head = format!("{head}\r\nContent-Type: {}", one_line(&media_type));
    }
    Ok(Part { head, bytes: plain(value).into_bytes() })
}

fn disposition(name: &str, file: Option<&str>) -> String {
    let quoted = |text: &str| text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let file = file.map(|it| format!("; filename=\"{}\"", quoted(it))).unwrap_or_default();
    format!("Content-Disposition: form-data; name=\"{}\"{file}", quoted(name))
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], "")
}

/// Makes a boundary that no part can hold: nobody can write content that contains a hash of itself.
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
    ToolError::Arguments { reason: format!("'{name}' is a file: give it as base64 or as a data URI") }
}

/// A file as it came in an argument.
struct File {
    bytes: Vec<u8>,
    media_type: Option<String>,
    name: Option<String>,
}

impl File {
    /// Reads base64, or `data:media/type;name=file.txt;base64,…`.
    fn read(text: &str) -> Option<Self> {
        let Some(uri) = text.strip_prefix("data:") else {
            return Some(Self { bytes: decoded(text)?, media_type: None, name: None });
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
        let bytes =
            if is_base64 { decoded(data)? } else { percent_encoding::percent_decode_str(data).collect() };
        Some(Self { bytes, media_type, name })
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(&text).or_else(|_| URL_SAFE.decode(&text)).ok()
}
