//! Encodes values outside of JSON, in every style and for every place.

use onetool_core::JsonObject;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::plan::model::{Encoding, Style};

/// All characters except those that RFC 3986 calls unreserved.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Allows reserved characters too, except those that would end or split the value.
const ALLOW_RESERVED: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// How strings are escaped.
#[derive(Clone, Copy)]
pub(super) enum Escape {
    /// For URLs.
    Url {
        /// Whether reserved characters stay unescaped.
        allow_reserved: bool,
    },
    /// For form bodies.
    Form,
    /// For headers.
    None,
}

impl Escape {
    /// Escapes everything that may be special in a URL.
    pub(super) const URL: Self = Self::Url { allow_reserved: false };

    pub(super) fn text(self, text: &str) -> String {
        match self {
            Self::Url { allow_reserved: true } => utf8_percent_encode(text, ALLOW_RESERVED).to_string(),
            Self::Url { allow_reserved: false } => utf8_percent_encode(text, STRICT).to_string(),
            Self::Form => url::form_urlencoded::byte_serialize(text.as_bytes()).collect(),
            Self::None => text.to_owned(),
        }
    }

    fn value(self, value: &Value) -> String {
        self.text(&to_text(value))
    }

    /// Returns the delimiter between items, escaped where it is not valid otherwise.
    fn delimiter(self, style: Style) -> &'static str {
        match (style, self) {
            (Style::Space, Self::Url { .. }) => "%20",
            (Style::Space, Self::Form) => "+",
            (Style::Space, Self::None) => " ",
            (Style::Pipe, Self::None) => "|",
            (Style::Pipe, _) => "%7C",
            (Style::Tab, Self::None) => "\t",
            (Style::Tab, _) => "%09",
            (_, Self::Form) => "%2C",
            _ => ",",
        }
    }
}

/// Converts a value to text: strings unchanged, everything else as JSON.
pub(super) fn to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Encodes the value of a path variable or a header.
pub(super) fn encode_value(name: &str, value: &Value, encoding: Encoding, escape: Escape) -> String {
    let Encoding { style, explode, .. } = encoding;
    if style == Style::Json {
        return escape.text(&value.to_string());
    }
    let name = escape.text(name);
    let (prefix, separator) = match (style, explode) {
        (Style::Label, true) => (".", "."),
        (Style::Label, false) => (".", ","),
        (Style::Matrix, true) => (";", ";"),
        (Style::Matrix, false) => (";", ","),
        _ => ("", escape.delimiter(style)),
    };
    let named = |text: String| if text.is_empty() { name.clone() } else { format!("{name}={text}") };
    let items: Vec<String> = match value {
        Value::Array(items) => {
            let items = items.iter().filter(|it| !it.is_null()).map(|it| escape.value(it));
            if style == Style::Matrix && explode { items.map(&named).collect() } else { items.collect() }
        }
        Value::Object(entries) => object_items(entries, explode, escape),
        scalar => vec![escape.value(scalar)],
    };
    let joined = items.join(separator);
    let is_named = style == Style::Matrix && !(explode && (value.is_array() || value.is_object()));
    format!("{prefix}{}", if is_named { named(joined) } else { joined })
}

/// Returns `key=value` items if exploded, otherwise keys and values alternately.
fn object_items(entries: &JsonObject, explode: bool, escape: Escape) -> Vec<String> {
    let entries = entries.iter().filter(|(_, value)| !value.is_null());
    entries
        .flat_map(|(key, value)| {
            let (key, value) = (escape.text(key), escape.value(value));
            if explode { vec![format!("{key}={value}")] } else { vec![key, value] }
        })
        .collect()
}

/// Appends `name=value` pairs for a query, a form or cookies. Null and empty lists are not sent.
pub(super) fn encode_pairs(
    pairs: &mut Vec<(String, String)>,
    name: &str,
    value: &Value,
    encoding: Encoding,
    escape: Escape,
) {
    let Encoding { style, explode, .. } = encoding;
    let escaped_name = escape.text(name);
    match (value, style) {
        (Value::Null, _) => {}
        (_, Style::Json) => pairs.push((escaped_name, escape.text(&value.to_string()))),
        (Value::Array(_) | Value::Object(_), Style::Deep) => encode_deep(pairs, name, value, escape),
        (Value::Array(items), _) => {
            let items = items.iter().filter(|it| !it.is_null()).map(|it| escape.value(it));
            if explode {
                pairs.extend(items.map(|it| (escaped_name.clone(), it)));
            } else {
                let items: Vec<String> = items.collect();
                if !items.is_empty() {
                    pairs.push((escaped_name, items.join(escape.delimiter(style))));
                }
            }
        }
        (Value::Object(entries), _) if explode && style == Style::Form => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            pairs.extend(entries.map(|(key, value)| (escape.text(key), escape.value(value))));
        }
        (Value::Object(entries), _) => {
            let items = object_items(entries, false, escape);
            if !items.is_empty() {
                pairs.push((escaped_name, items.join(escape.delimiter(style))));
            }
        }
        (scalar, _) => pairs.push((escaped_name, escape.value(scalar))),
    }
}

/// Appends `name[key][0]=value` for every leaf. Not recursive, because arguments may be nested deeply.
fn encode_deep(pairs: &mut Vec<(String, String)>, name: &str, value: &Value, escape: Escape) {
    let mut pending = vec![(name.to_owned(), value)];
    while let Some((name, value)) = pending.pop() {
        let child_name = |key: &dyn std::fmt::Display| format!("{name}[{key}]");
        match value {
            Value::Null => {}
            Value::Array(items) => {
                pending.extend(items.iter().enumerate().rev().map(|(at, item)| (child_name(&at), item)));
            }
            Value::Object(entries) => {
                pending.extend(entries.iter().rev().map(|(key, value)| (child_name(key), value)));
            }
            scalar => pairs.push((escape.text(&name), escape.value(scalar))),
        }
    }
}
