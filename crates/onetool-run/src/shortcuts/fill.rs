//! Rendering of Python code templates in which parameter values are always data, never code.
//!
//! The template is rendered with a placeholder for every value. The position of a value in the code is only known
//! afterwards, when loops, conditions and macros have run, and it decides how the value is written.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use minijinja::value::{Serde, Value as JinjaValue, ValueKind};
use minijinja::{Environment, ErrorKind, Output, State, UndefinedBehavior};
use onetool_core::JsonObject;
use onetool_core::sync::Unpoisoned as _;
use serde_json::Value;

use super::scan::{self, Filling};

const TEMPLATE_NAME: &str = "snippet";

/// Renders a template with the given values. The error is a message for users.
pub(super) fn fill(body: &str, values: &JsonObject) -> Result<String, String> {
    // A value would have to contain more than 70,000 different characters.
    let mark = unused_character(body, values).ok_or("the values use every private-use character")?;
    let fillings: Arc<Mutex<Vec<Filling>>> = Arc::default();
    let collected = fillings.clone();
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(move |out: &mut Output<'_>, _: &mut State<'_, '_>, value: &JinjaValue| {
        let filling = filling(value)?;
        let mut fillings = collected.lock().unpoisoned();
        let index = fillings.len();
        fillings.push(filling);
        drop(fillings);
        write!(out, "{mark}{index}{mark}").map_err(minijinja::Error::from)
    });
    environment.add_template_owned(TEMPLATE_NAME, body.to_owned()).map_err(|error| reason(&error))?;
    let template = environment.get_template(TEMPLATE_NAME);
    let rendered = template.and_then(|template| template.render(Serde(values)));
    let rendered = rendered.map_err(|error| reason(&error))?;
    let fillings = std::mem::take(&mut *fillings.lock().unpoisoned());
    let flat = flatten(&rendered, mark, &fillings)?;
    scan::write_fillings(&flat, mark, &fillings).map_err(|error| error.to_string())
}

/// Returns the message of a template error, with its line.
fn reason(error: &minijinja::Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("{detail} (line {line})"),
        None => detail,
    }
}

fn filling(value: &JinjaValue) -> Result<Filling, minijinja::Error> {
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    let data = serde_json::to_value(value)
        .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    let text = match (&data, value.kind()) {
        (Value::Null, _) => String::new(),
        (Value::Bool(truth), _) => (if *truth { "True" } else { "False" }).to_owned(),
        (_, ValueKind::Seq | ValueKind::Map) => data.to_string(),
        _ => value.to_string(),
    };
    // The result of `tojson` is data in code, and JSON text inside of a literal.
    let is_json = value.is_safe().then(|| serde_json::from_str(&text).ok()).flatten();
    Ok(Filling { data: is_json.unwrap_or(data), text })
}

/// Expands placeholders of captured template output (macros, blocks assigned with `set`), which is code, not a value.
fn flatten(text: &str, mark: char, fillings: &[Filling]) -> Result<String, String> {
    let mut flat = String::new();
    for (index, piece) in text.split(mark).enumerate() {
        if index % 2 == 0 {
            flat.push_str(piece);
            continue;
        }
        let filling = piece.parse::<usize>().ok().and_then(|index| fillings.get(index));
        let filling = filling.ok_or("a filter cuts a block that contains a parameter")?;
        if filling.text.contains(mark) {
            flat.push_str(&flatten(&filling.text, mark, fillings)?);
        } else {
            flat.extend([mark.to_string().as_str(), piece, mark.to_string().as_str()]);
        }
    }
    Ok(flat)
}

/// Returns a private-use character that occurs neither in the template nor in a value.
fn unused_character(body: &str, values: &JsonObject) -> Option<char> {
    fn collect(value: &Value, seen: &mut HashSet<char>) {
        match value {
            Value::String(text) => seen.extend(text.chars().filter(|c| *c >= '\u{e000}')),
            Value::Array(items) => items.iter().for_each(|item| collect(item, seen)),
            Value::Object(entries) => {
                for (key, value) in entries {
                    seen.extend(key.chars().filter(|c| *c >= '\u{e000}'));
                    collect(value, seen);
                }
            }
            _ => {}
        }
    }
    let mut seen: HashSet<char> = body.chars().filter(|c| *c >= '\u{e000}').collect();
    values.values().for_each(|value| collect(value, &mut seen));
    ('\u{e000}'..='\u{f8ff}').chain('\u{f0000}'..='\u{ffffd}').find(|c| !seen.contains(c))
}

#[cfg(test)]
mod tests;
