//! Jinja templates whose variables are the arguments of a call; the configuration has checked their names.

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Output, State, UndefinedBehavior};
use onetool_core::JsonObject;

const NAME: &str = "template";

/// A template that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is no Jinja.
    #[error("cannot read the template: {reason}")]
    Syntax {
        /// What is wrong with it.
        reason: String,
    },
    /// It failed while it was filled in.
    #[error("cannot fill in the template: {reason}")]
    Render {
        /// What went wrong.
        reason: String,
    },
}

/// Where the text of a template lands, which decides how values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Text, one argument of a command, a header: values as they are.
    Plain,
    /// The path or query of a URL: values percent-encoded, so that none can become a separator.
    Url,
}

/// The argument that a template consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Argument<'a> {
    Missing,
    Given(&'a serde_json::Value),
}

/// A template, parsed once.
pub(super) struct Template {
    environment: Environment<'static>,
    /// The name, if the template is nothing but `{{ name }}`.
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

    /// Fills the template in.
    pub(super) fn render(&self, values: &JsonObject) -> Result<String, TemplateError> {
        let template = self.environment.get_template(NAME);
        template
            .and_then(|template| template.render(Serde(values)))
            .map_err(|error| TemplateError::Render { reason: error.to_string() })
    }

    /// Fills the template in, or leaves it out if it is nothing but an argument that was not given.
    pub(super) fn render_if_given(&self, values: &JsonObject) -> Result<Option<String>, TemplateError> {
        match self.bare_value(values) {
            Some(Argument::Missing | Argument::Given(serde_json::Value::Null)) => Ok(None),
            _ => self.render(values).map(Some),
        }
    }

    /// Returns the argument as it is, if the template is nothing but its name.
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
    // Forms write a space as `+`, which a path would keep.
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
    fn values_cannot_leave_their_place_in_a_url() {
        let url = render("https://h/{{ a }}?b={{ b }}", Place::Url, json!({"a": "../x?y#z é", "b": "1&c=2"}));
        assert_eq!(url, "https://h/..%2Fx%3Fy%23z%20%C3%A9?b=1%26c%3D2");
    }

    #[test]
    fn what_was_not_given_is_left_out() {
        let template = Template::new("{{ a }}", Place::Plain).unwrap();
        assert_eq!(template.render_if_given(&JsonObject::new()).unwrap(), None);
        let template = Template::new("-{{ a }}", Place::Plain).unwrap();
        assert_eq!(template.render_if_given(&JsonObject::new()).unwrap().as_deref(), Some("-"));
    }
}
