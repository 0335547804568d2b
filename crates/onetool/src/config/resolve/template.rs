//! Templates, checked before anything is called.

use std::collections::HashSet;

use minijinja::Environment;
use onetool_core::similar_names;
use serde_json::Value;

use crate::config::ConfigError;
use crate::config::tree::Place;

/// The names that the templates of one tool or prompt may use; `None` if the schema leaves it open.
pub(super) struct Names(pub(super) Option<HashSet<String>>);

impl Names {
    /// Checks that `text` is a template that uses only these names.
    pub(super) fn check(&self, text: &str, place: &Place<'_>) -> Result<(), ConfigError> {
        let environment = Environment::new();
        // Pieces of a variable's value get past the redactor, so nothing is quoted where one is part of the text.
        let is_secret = place.is_expanded();
        let template = environment.template_from_str(text).map_err(|error| {
            let detail =
                error.detail().filter(|_| !is_secret).unwrap_or("the {{ }} or {% %} in it do not fit");
            ConfigError::invalid(place, format!("not a template: {detail}"))
        })?;
        let Some(names) = &self.0 else { return Ok(()) };
        let globals: HashSet<&str> = environment.globals().map(|(name, _)| name).collect();
        let mut unknown: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        unknown.retain(|name| !names.contains(name) && !globals.contains(name.as_str()));
        // A set has no order, but messages should.
        unknown.sort();
        let Some(name) = unknown.first() else {
            return Ok(());
        };
        if is_secret {
            return Err(ConfigError::invalid(place, "the template uses a name that is no parameter"));
        }
        let suggestion = similar_names(name, names.iter().map(String::as_str)).first().copied();
        let suggestion = suggestion.map_or_else(String::new, |it| format!(", did you mean '{it}'?"));
        Err(ConfigError::invalid(
            place,
            format!("the template uses '{name}', which is no parameter{suggestion}"),
        ))
    }

    /// Checks the templates inside a JSON value.
    pub(super) fn check_json(&self, value: &Value, place: &Place<'_>) -> Result<(), ConfigError> {
        match value {
            Value::String(text) => self.check(text, place),
            Value::Array(items) => (items.iter().enumerate())
                .try_for_each(|(index, item)| self.check_json(item, &place.item(index))),
            Value::Object(fields) => {
                fields.iter().try_for_each(|(key, value)| self.check_json(value, &place.field(key)))
            }
            _ => Ok(()),
        }
    }
}

/// Tells whether a text has template code in it.
pub(super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}
