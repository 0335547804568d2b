//! Templates of Python code, filled in such that values stay values wherever they land.
//!
//! The template is rendered with a mark in the place of every value. Only then, when loops, conditions and macros have
//! done their work, it is known where in the code each value stands, and so how it has to be written.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use minijinja::value::{Serde, Value as JinjaValue, ValueKind};
use minijinja::{Environment, ErrorKind, Output, State, UndefinedBehavior};
use onetool_core::JsonObject;
use onetool_core::sync::Unpoisoned as _;
use serde_json::Value;

use super::scan::{self, Filling};

const NAME: &str = "snippet";

/// Fills a template in; the error is a text for people.
pub(super) fn fill(body: &str, values: &JsonObject) -> Result<String, String> {
    let mark = unused_character(body, values).ok_or("a value holds every private character there is")?;
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
    environment.add_template_owned(NAME, body.to_owned()).map_err(|error| reason(&error))?;
    let rendered = environment.get_template(NAME).and_then(|template| template.render(Serde(values)));
    let rendered = rendered.map_err(|error| reason(&error))?;
    let fillings = std::mem::take(&mut *fillings.lock().unpoisoned());
    let flat = flatten(&rendered, mark, &fillings)?;
    scan::write_fillings(&flat, mark, &fillings).map_err(|error| error.to_string())
}

/// Says what a template error is about, with its line.
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
    // What `tojson` made is the data again where code is expected, and JSON text inside of a literal.
    let is_json = value.is_safe().then(|| serde_json::from_str(&text).ok()).flatten();
    Ok(Filling { data: is_json.unwrap_or(data), text })
}

/// Puts captured pieces of the template (blocks that were set, macros) back in as the code that they are.
fn flatten(text: &str, mark: char, fillings: &[Filling]) -> Result<String, String> {
    let mut flat = String::new();
    for (index, piece) in text.split(mark).enumerate() {
        if index % 2 == 0 {
            flat.push_str(piece);
            continue;
        }
        let filling = piece.parse::<usize>().ok().and_then(|index| fillings.get(index));
        let filling = filling.ok_or("a filter cuts through a block that holds a parameter")?;
        if filling.text.contains(mark) {
            flat.push_str(&flatten(&filling.text, mark, fillings)?);
        } else {
            flat.extend([mark.to_string().as_str(), piece, mark.to_string().as_str()]);
        }
    }
    Ok(flat)
}

/// Returns a private character that stands neither in the template nor in a value.
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
