//! Templates in values, checked when they are loaded.

use std::collections::HashSet;

use minijinja::Environment;
use onetool_core::similar_names;
use serde_json::Value;

use crate::error::ConfigError;
use crate::section::Section;

/// The names that the templates of one tool or prompt may use.
#[derive(Debug, Clone)]
pub struct TemplateNames(Option<HashSet<String>>);

impl TemplateNames {
    /// Allows only these names.
    pub fn new(names: HashSet<String>) -> Self {
        Self(Some(names))
    }

    /// Allows any name.
    pub fn any() -> Self {
        Self(None)
    }

    /// Checks that `text` is a valid template and uses only these names.
    ///
    /// # Errors
    /// The message quotes the invalid part, unless the text contains a variable.
    pub fn check(&self, text: &str, section: &Section<'_>) -> Result<(), ConfigError> {
        let environment = Environment::new();
        // The redactor does not recognize a part of a variable's value, so such a text must not be quoted.
        let is_secret = section.is_expanded();
        let template = environment.template_from_str(text).map_err(|error| {
            let detail = error.detail().filter(|_| !is_secret).unwrap_or("unbalanced {{ }} or {% %}");
            section.invalid(format!("invalid template: {detail}"))
        })?;
        let Some(names) = &self.0 else { return Ok(()) };
        let globals: HashSet<&str> = environment.globals().map(|(name, _)| name).collect();
        let mut unknown: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        unknown.retain(|name| !names.contains(name) && !globals.contains(name.as_str()));
        // The set has no order, and the message should not vary.
        unknown.sort();
        let Some(name) = unknown.first() else {
            return Ok(());
        };
        if is_secret {
            return Err(section.invalid("the template uses a name that is not a parameter"));
        }
        let suggestion = similar_names(name, names.iter().map(String::as_str)).first().copied();
        let suggestion = suggestion.map_or_else(String::new, |it| format!(", did you mean '{it}'?"));
        Err(section.invalid(format!("the template uses '{name}', which is not a parameter{suggestion}")))
    }

    /// Checks the templates inside a JSON value.
    ///
    /// # Errors
    /// As [`TemplateNames::check`].
    pub fn check_json(&self, value: &Value, section: &Section<'_>) -> Result<(), ConfigError> {
        match value {
            Value::String(text) => self.check(text, section),
            Value::Array(items) => (items.iter().enumerate())
                .try_for_each(|(index, item)| self.check_json(item, &section.item(index))),
            Value::Object(fields) => {
                fields.iter().try_for_each(|(key, value)| self.check_json(value, &section.field(key)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a text contains template code.
pub fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}
