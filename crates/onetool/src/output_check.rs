//! Checks what a tool answers against the output schema it declares.

use onetool_core::JsonObject;
use serde_json::{Value, json};

use crate::validate::{ArgumentError, Validator};

/// Where the output stands in the object that is checked: the validator takes objects, an output may be any value.
const KEY: &str = "output";
/// Makes references such as `#/$defs/Item` point into the output schema and not into the object around it.
const ID: &str = "urn:onetool:output";

/// The compiled check of one tool's structured content.
pub(crate) struct OutputCheck(Validator);

impl OutputCheck {
    pub(crate) fn compile(schema: &JsonObject) -> Self {
        let mut schema = schema.clone();
        let dialect = schema.get("$schema").cloned();
        schema.entry("$id").or_insert_with(|| ID.into());
        let mut around = JsonObject::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), json!({KEY: schema})),
        ]);
        around.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
        Self(Validator::compile(&around))
    }

    /// Returns why the schema cannot be used, if it cannot.
    pub(crate) fn broken(&self) -> Option<String> {
        self.0.broken().map(|reason| reason.replace(&format!("/properties/{KEY}"), ""))
    }

    /// Returns what is wrong with an output. One without structured content breaks every schema.
    pub(crate) fn check(&self, output: Option<&Value>) -> Vec<ArgumentError> {
        let Some(output) = output else {
            let message = "there is no structured content".to_owned();
            return vec![ArgumentError { path: String::new(), message, keyword: Some("required".into()) }];
        };
        let around = JsonObject::from_iter([(KEY.to_owned(), output.clone())]);
        let place = |path: String| path.strip_prefix(&format!("/{KEY}")).map(str::to_owned).unwrap_or(path);
        let errors = self.0.check(&around).into_iter();
        errors.map(|error| ArgumentError { path: place(error.path), ..error }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(schema: &Value, output: &Value) -> Vec<String> {
        let check = OutputCheck::compile(schema.as_object().unwrap());
        assert_eq!(check.broken(), None);
        check.check(Some(output)).into_iter().map(|error| error.path).collect()
    }

    #[test]
    fn d3_an_output_is_checked_whatever_its_type() {
        let list = json!({"type": "array", "items": {"$ref": "#/$defs/Item"},
            "$defs": {"Item": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}});
        assert!(places(&list, &json!([{"n": 1}])).is_empty());
        assert_eq!(places(&list, &json!([{"n": 1}, {"n": "x"}])), ["/1/n"]);
        assert_eq!(places(&list, &json!({"n": 1})), [""]);
        let tree = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
        assert!(places(&tree, &json!({"next": {"next": {}}})).is_empty());
        assert_eq!(places(&tree, &json!({"next": {"other": 1}})), ["/next"]);
    }

    #[test]
    fn d3_an_output_schema_that_is_none_says_where() {
        let check = OutputCheck::compile(json!({"type": "object", "properties": 5}).as_object().unwrap());
        assert_eq!(check.broken().as_deref(), Some(r#"at '/properties': 5 is not of type "object""#));
        assert_eq!(check.check(None)[0].message, "there is no structured content");
    }
}
