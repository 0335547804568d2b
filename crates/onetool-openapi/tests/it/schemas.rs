//! Input and output schemas: complete, valid, and without endless references.

use onetool_openapi::ApiOptions;
use serde_json::{Value, json};

use crate::support::{invalid, load_text, openapi, tool};

async fn api(paths: Value, schemas: Value) -> onetool_openapi::Api {
    let mut description = openapi(paths);
    description["servers"] = json!([{"url": "https://x.example"}]);
    description["components"] = json!({"schemas": schemas});
    load_text(description.to_string(), ApiOptions::new("x")).await.unwrap()
}

fn post(id: &str, schema: Value) -> Value {
    json!({"post": {"operationId": id, "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}})
}

#[tokio::test]
async fn n5_input_schemas_have_no_union_at_the_top() {
    let reference = json!({"$ref": "#/components/schemas/U"});
    for union in ["oneOf", "anyOf", "allOf"] {
        let schemas = json!({"U": {union: [{"type": "object", "properties": {"a": {}}}, {"type": "array"}]}});
        let api = api(json!({"/a": post("go", reference.clone())}), schemas).await;
        let schema = &tool(&api, "go").spec().input_schema;
        assert_eq!(schema["type"], "object");
        assert!(
            ["oneOf", "anyOf", "allOf", "$ref"].iter().all(|key| !schema.contains_key(*key)),
            "{schema:?}"
        );
        assert_eq!(schema["required"], json!(["body"]));
    }
}

#[tokio::test]
async fn n3_cycles_of_in_place_references_are_cut() {
    let schemas = json!({
        "Pet": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"],
                "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]},
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"lives": {"type": "integer"}}, "required": ["lives"]}]},
        "Dog": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"bark": {"type": "string"}}, "required": ["bark"]}]},
        "Self": {"$ref": "#/components/schemas/Self"},
        "A": {"$ref": "#/components/schemas/B"}, "B": {"anyOf": [{"$ref": "#/components/schemas/A"}]},
    });
    let list =
        |name: &str| json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{name}")}});
    let paths = json!({"/p": post("pets", list("Pet")), "/s": post("selves", list("Self")), "/a": post("ays", list("A"))});
    let api = api(paths, schemas).await;
    // These would never return if the cycles were still there.
    assert_eq!(invalid(tool(&api, "pets"), &json!({"body": [{"kind": "cat", "lives": 9}]})), None);
    assert!(invalid(tool(&api, "pets"), &json!({"body": [{"lives": 9}]})).is_some());
    assert_eq!(invalid(tool(&api, "selves"), &json!({"body": [1]})), None);
    assert_eq!(invalid(tool(&api, "ays"), &json!({"body": [1]})), None);
}

#[tokio::test]
async fn seam_19_a_property_that_several_parts_of_a_body_require_is_listed_once() {
    let part = json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]});
    for (is_required, keyword, expected) in
        [(true, "required", json!(["a"])), (false, "dependentRequired", json!({"b": ["a"]}))]
    {
        let mut item = post("go", json!({"allOf": [part, part]}));
        item["post"]["requestBody"]["required"] = is_required.into();
        let api = api(json!({"/a": item}), json!({})).await;
        assert_eq!(tool(&api, "go").spec().input_schema[keyword], expected);
    }
}

#[tokio::test]
async fn oas_1_1_one_schema_covers_the_arguments_of_all_places() {
    let paths = json!({"/a/{id}": {"parameters": [{"name": "id", "in": "path", "description": "Which.", "schema": {"type": "integer"}}],
        "post": {"operationId": "go", "summary": "Goes.", "description": "Goes far.\n\nSlowly.", "deprecated": true,
            "parameters": [{"name": "q", "in": "query", "schema": {"type": "string", "default": "x"}}, {"name": "H", "in": "header"},
                           {"name": "c", "in": "cookie"}, {"name": "Authorization", "in": "header", "required": true}],
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/B"}}}}}}});
    let schemas = json!({"B": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}, "o": {"$ref": "#/components/schemas/O"}}},
                         "O": {"type": "string", "nullable": true, "enum": ["a"]}, "Unused": {"type": "object"}});
    let api = api(paths, schemas).await;
    let spec = tool(&api, "go").spec();
    assert_eq!(spec.description, "Deprecated. Goes.\n\nGoes far.\n\nSlowly.");
    assert_eq!(
        Value::Object((*spec.input_schema).clone()),
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "Which."},
                "q": {"type": "string", "description": "(default: \"x\")"},
                "H": {}, "c": {},
                "n": {"type": "string"},
                "o": {"$ref": "#/$defs/O"},
            },
            "required": ["id", "n"],
            "additionalProperties": false,
            "$defs": {"O": {"type": ["string", "null"], "enum": ["a", null]}},
        })
    );
    assert!(invalid(tool(&api, "go"), &json!({"id": 1, "n": "x", "tpyo": 1})).is_some());
}

#[tokio::test]
async fn oas_1_4_operations_that_always_return_an_object_have_an_output_schema() {
    let get = |responses: Value| json!({"get": {"responses": responses}});
    let json =
        |schema: Value| json!({"description": "", "content": {"application/json": {"schema": schema}}});
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let paths = json!({
        "/one": get(json!({"200": json(reference.clone()), "404": {"description": "no"}})),
        "/list": get(json!({"200": json(json!({"type": "array", "items": reference}))})),
        "/both": get(json!({"200": json(reference.clone()), "202": {"description": "later"}})),
        "/text": get(json!({"200": {"content": {"text/plain": {"schema": reference}}}})),
        "/none": get(json!({"204": {"description": "done"}})),
    });
    let api = api(paths, json!({"Pet": {"type": "object", "properties": {"n": {"type": "string"}}}})).await;
    let has: Vec<bool> = api.tools.iter().map(|it| it.spec().output_schema.is_some()).collect();
    assert_eq!(has, [true, false, false, false, false]);
    let schema = tool(&api, "get_one").spec().output_schema.clone().unwrap();
    assert_eq!((&schema["type"], &schema["$ref"]), (&json!("object"), &json!("#/$defs/Pet")));
    assert_eq!(schema["$defs"]["Pet"]["properties"]["n"]["type"], "string");
}
