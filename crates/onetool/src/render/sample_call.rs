//! Example calls of tools.

use onetool_core::{JsonObject, Parameter, parameters};

/// Returns an example call with all required arguments.
pub(crate) fn sample_call(name: &str, schema: &JsonObject) -> String {
    let sample = |parameter: Parameter<'_>| {
        let value = match parameter.python_type.split(['[', ' ']).next() {
            Some("int") => "1",
            Some("float") => "1.0",
            Some("bool") => "True",
            Some("list") => "[]",
            Some("dict") => "{}",
            _ => "\"...\"",
        };
        format!("{}={value}", parameter.name)
    };
    let required: Vec<String> =
        parameters(schema).filter(|parameter| parameter.required).map(sample).collect();
    format!("{name}({})", required.join(", "))
}
