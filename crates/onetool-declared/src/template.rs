//! Jinja templates whose variables are the arguments of a call. Their names were checked with the configuration.

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Output, State, UndefinedBehavior};
use onetool_core::JsonObject;

const NAME: &str = "template";

/// A template, or another part of a declaration, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A template is not valid Jinja.
    #[error("invalid template: {reason}")]
    Syntax {
        /// What is wrong with it.
        reason: String,
    },
    /// A template cannot be rendered with the arguments of a call.
    #[error("cannot render the template: {reason}")]
    Render {
        /// What went wrong.
        reason: String,
    },
    /// A part that is not a template is invalid, such as Python code.
    #[error("{reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
}

/// Where a rendered template is used. This determines how values are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Text, an argument of a command, or a header: values are unchanged.
    Plain,
    /// The path or query of a URL: values are percent-encoded, so that they cannot contain separators.
    Url,
}

/// The value of a template that is only `{{ name }}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Argument<'a> {
    Missing,
    Given(&'a serde_json::Value),
}

/// A template, parsed once.
pub(super) struct Template {
    environment: Environment<'static>,
    /// The name, if the template is only `{{ name }}`.
    bare_name: Option<String>,
}

impl Template {
    pub(super) fn new(source: &str, place: Place) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        match place {
            Place::Plain => environment.set_formatter(write_plain),
            Place::Url => environment.set_formatter(write_percent_encoded),
        }
        environment
            .add_template_owned(NAME, source.to_owned())
            .map_err(|error| TemplateError::Syntax { reason: error.to_string() })?;
        Ok(Self { environment, bare_name: bare_name(source) })
    }

    /// Renders the template.
    pub(super) fn render(&self, values: &JsonObject) -> Result<String, TemplateError> {
        let template = self.environment.get_template(NAME);
        template
            .and_then(|template| template.render(Serde(values)))
            .map_err(|error| TemplateError::Render { reason: error.to_string() })
    }

    /// Renders the template; `None` if it is only `{{ name }}` and the call has no such argument.
    pub(super) fn render_if_given(&self, values: &JsonObject) -> Result<Option<String>, TemplateError> {
        match self.bare_value(values) {
            Some(Argument::Missing | Argument::Given(serde_json::Value::Null)) => Ok(None),
            _ => self.render(values).map(Some),
        }
    }

    /// Returns the argument with its type, if the template is only `{{ name }}`.
    pub(super) fn bare_value<'a>(&self, values: &'a JsonObject) -> Option<Argument<'a>> {
        let name = self.bare_name.as_ref()?;
        Some(values.get(name).map_or(Argument::Missing, Argument::Given))
    }
}

fn bare_name(source: &str) -> Option<String> {
    let name = source.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| name.to_owned())
}

fn text_of(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::Seq | ValueKind::Map => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
        _ => value.to_string(),
    }
}

fn write_plain(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    out.write_str(&text_of(value)).map_err(minijinja::Error::from)
}

fn write_percent_encoded(
    out: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    let encoded: String = url::form_urlencoded::byte_serialize(text_of(value).as_bytes()).collect();
    // Forms encode a space as `+`, which is a literal plus in a path.
    out.write_str(&encoded.replace('+', "%20")).map_err(minijinja::Error::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(source: &str, place: Place, values: serde_json::Value) -> String {
        let values = values.as_object().unwrap().clone();
        Template::new(source, place).unwrap().render(&values).unwrap()
    }

    #[test]
    fn values_cannot_change_the_structure_of_a_url() {
        let url = render("https://h/{{ a }}?b={{ b }}", Place::Url, json!({"a": "../x?y#z é", "b": "1&c=2"}));
        assert_eq!(url, "https://h/..%2Fx%3Fy%23z%20%C3%A9?b=1%26c%3D2");
    }

    #[test]
    fn a_template_that_is_only_a_missing_argument_is_omitted() {
        let template = Template::new("{{ a }}", Place::Plain).unwrap();
        assert_eq!(template.render_if_given(&JsonObject::new()).unwrap(), None);
        let template = Template::new("-{{ a }}", Place::Plain).unwrap();
        assert_eq!(template.render_if_given(&JsonObject::new()).unwrap().as_deref(), Some("-"));
    }
}
