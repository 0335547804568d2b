//! Translations of single keywords.

use serde_json::{Value, json};

use super::{DefinitionNames, Patterns, Translator};
use crate::dialect::Dialect;

/// Names definitions by the last step of a reference.
struct LastStep;

impl DefinitionNames for LastStep {
    fn definition_name(&mut self, reference: &str, _: bool) -> Option<String> {
        reference.rsplit('/').next().map(str::to_owned)
    }
}

fn translated(dialect: Dialect, schema: Value) -> Value {
    let mut patterns = Patterns::default();
    Translator { dialect, names: &mut LastStep, patterns: &mut patterns }.schema(schema)
}

#[test]
fn oas_1_1_schemas_of_every_dialect_become_json_schema() {
    use Dialect::{OpenApi30, OpenApi31, Swagger2};
    for (dialect, from, to) in [
        (OpenApi30, json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            OpenApi30,
            json!({"type": "string", "enum": ["a"], "nullable": true}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            OpenApi30,
            json!({"$ref": "#/components/schemas/A", "nullable": true, "description": "D", "maximum": 3}),
            json!({"description": "D", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
        ),
        (
            OpenApi30,
            json!({"allOf": [{"$ref": "#/components/schemas/A"}], "nullable": true}),
            json!({"anyOf": [{"allOf": [{"$ref": "#/$defs/A"}]}, {"type": "null"}]}),
        ),
        (OpenApi30, json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
        (OpenApi30, json!({"maximum": 9, "exclusiveMaximum": false}), json!({"maximum": 9})),
        (OpenApi30, json!({"type": "integer", "example": 3}), json!({"type": "integer", "examples": [3]})),
        (
            OpenApi31,
            json!({"type": ["string", "null"], "const": "x"}),
            json!({"type": ["string", "null"], "const": "x"}),
        ),
        (OpenApi31, json!({"$ref": "#/$defs/A", "maximum": 3}), json!({"$ref": "#/$defs/A", "maximum": 3})),
        (
            OpenApi31,
            json!({"exclusiveMinimum": 4, "$id": "x", "$schema": "y"}),
            json!({"exclusiveMinimum": 4}),
        ),
        (
            OpenApi31,
            json!({"properties": {"a": true, "b": false}}),
            json!({"properties": {"a": {}, "b": false}}),
        ),
        (Swagger2, json!({"type": "file", "x-nullable": true}), json!({"type": ["string", "null"]})),
        (OpenApi30, json!({"type": "wat", "required": true, "minLength": -1, "pattern": "("}), json!({})),
        (OpenApi30, json!({"items": "string", "enum": [], "allOf": [], "title": 3}), json!({})),
        (OpenApi30, json!({"items": [{"type": "int"}]}), json!({"prefixItems": [{"type": "integer"}]})),
        (
            OpenApi30,
            json!({"properties": {"id": {"readOnly": true}, "n": {}}, "required": ["id", "n", "n"]}),
            json!({"properties": {"id": {"readOnly": true}, "n": {}}, "required": ["n"]}),
        ),
        (OpenApi30, json!({"discriminator": {"propertyName": "t"}, "xml": {}, "x-a": 1}), json!({})),
        (OpenApi30, json!("nonsense"), json!({})),
    ] {
        assert_eq!(translated(dialect, from.clone()), to, "{from}");
    }
}

#[test]
fn seam_19_examples_contain_no_references() {
    let schema = json!({"type": "object", "example": {"$ref": "#/components/schemas/Url/example"}});
    assert_eq!(translated(Dialect::OpenApi30, schema), json!({"type": "object"}));
}
