//! How values are written outside of JSON: every style of every place.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::plan::model::{Encoding, Style};

/// All but the characters that RFC 3986 calls unreserved.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Also lets reserved characters pass, but not those that would end or split what they stand in.
const RESERVED: &AsciiSet = &STRICT
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

/// How single strings are escaped.
#[derive(Clone, Copy)]
pub(super) enum Escape {
    /// For URLs; `true` lets reserved characters pass.
    Url(bool),
    /// For bodies of forms.
    Form,
    /// For headers.
    Nothing,
}

impl Escape {
    pub(super) fn text(self, text: &str) -> String {
        match self {
            Self::Url(true) => utf8_percent_encode(text, RESERVED).to_string(),
            Self::Url(false) => utf8_percent_encode(text, STRICT).to_string(),
            Self::Form => url::form_urlencoded::byte_serialize(text.as_bytes()).collect(),
            Self::Nothing => text.to_owned(),
        }
    }

    fn value(self, value: &Value) -> String {
        self.text(&plain(value))
    }

    /// Delimiters between items are part of the syntax: some must be escaped themselves.
    fn delimiter(self, style: Style) -> &'static str {
        match (style, self) {
            (Style::Space, Self::Url(_)) => "%20",
            (Style::Space, Self::Form) => "+",
            (Style::Space, Self::Nothing) => " ",
            (Style::Pipe, Self::Nothing) => "|",
            (Style::Pipe, _) => "%7C",
            (Style::Tab, Self::Nothing) => "\t",
            (Style::Tab, _) => "%09",
            (_, Self::Form) => "%2C",
            _ => ",",
        }
    }
}

/// Writes a value as text: strings as they are, everything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes the value of a path variable or a header.
pub(super) fn single(name: &str, value: &Value, encoding: Encoding, escape: Escape) -> String {
    let Encoding { style, explode, .. } = encoding;
    if style == Style::Json {
        return escape.text(&value.to_string());
    }
    let name = escape.text(name);
    let (first, between) = match (style, explode) {
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
        Value::Object(entries) => pairs(entries, explode, escape),
        one => vec![escape.value(one)],
    };
    let joined = items.join(between);
    let is_named = style == Style::Matrix && !(explode && (value.is_array() || value.is_object()));
    format!("{first}{}", if is_named { named(joined) } else { joined })
}

fn pairs(entries: &serde_json::Map<String, Value>, explode: bool, escape: Escape) -> Vec<String> {
    let given = entries.iter().filter(|(_, value)| !value.is_null());
    given
        .flat_map(|(key, value)| {
            let (key, value) = (escape.text(key), escape.value(value));
            if explode { vec![format!("{key}={value}")] } else { vec![key, value] }
        })
        .collect()
}

/// Appends `name=value` pairs of a query, a form or cookies. What is null or an empty list is not sent.
pub(super) fn named(
    out: &mut Vec<(String, String)>,
    name: &str,
    value: &Value,
    encoding: Encoding,
    escape: Escape,
) {
    let Encoding { style, explode, .. } = encoding;
    let own = escape.text(name);
    match (value, style) {
        (Value::Null, _) => {}
        (_, Style::Json) => out.push((own, escape.text(&value.to_string()))),
        (Value::Array(_) | Value::Object(_), Style::Deep) => deep(out, name, value, escape),
        (Value::Array(items), _) => {
            let items = items.iter().filter(|it| !it.is_null()).map(|it| escape.value(it));
            if explode {
                out.extend(items.map(|it| (own.clone(), it)));
            } else {
                let items: Vec<String> = items.collect();
                if !items.is_empty() {
                    out.push((own, items.join(escape.delimiter(style))));
                }
            }
        }
        (Value::Object(entries), _) if explode && style == Style::Form => {
            let given = entries.iter().filter(|(_, value)| !value.is_null());
            out.extend(given.map(|(key, value)| (escape.text(key), escape.value(value))));
        }
        (Value::Object(entries), _) => {
            let items = pairs(entries, false, escape);
            if !items.is_empty() {
                out.push((own, items.join(escape.delimiter(style))));
            }
        }
        (one, _) => out.push((own, escape.value(one))),
    }
}

/// Writes `name[key][0]=value` for every leaf; without recursion, since arguments may be nested deeply.
fn deep(out: &mut Vec<(String, String)>, name: &str, value: &Value, escape: Escape) {
    let mut pending = vec![(name.to_owned(), value)];
    while let Some((name, value)) = pending.pop() {
        let within = |key: &dyn std::fmt::Display| {
            let mut inner = name.clone();
            let _ = write!(inner, "[{key}]");
            inner
        };
        match value {
            Value::Null => {}
            Value::Array(items) => {
                pending.extend(items.iter().enumerate().rev().map(|(at, item)| (within(&at), item)));
            }
            Value::Object(entries) => {
                pending.extend(entries.iter().rev().map(|(key, value)| (within(key), value)));
            }
            one => out.push((escape.text(&name), escape.value(one))),
        }
    }
}
