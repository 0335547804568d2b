//! Shapes from schemas and from results, and their text.

use serde_json::{Value, json};

use super::{LearnedShape, Shape, Step};

fn declared(schema: &Value) -> Shape {
    Shape::from_schema(schema.as_object().unwrap())
}

fn learned(results: &[Value]) -> LearnedShape {
    let mut shape = LearnedShape::default();
    for result in results {
        shape.add(result);
    }
    shape
}

#[test]
fn agt_2_a_schema_declares_a_shape() {
    let schema = json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "owner": {"$ref": "#/$defs/User"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "state": {"enum": ["open", "closed", null]},
            "score": {"type": ["number", "null"]},
            "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
            "any": {},
        },
        "$defs": {"User": {"allOf": [
            {"type": "object", "required": ["login"], "properties": {"login": {"type": "string"}}},
            {"properties": {"url": {"type": "string", "nullable": true}}},
        ]}},
    });
    assert_eq!(
        declared(&schema).to_string(),
        "{id: int, owner?: {login: str, url?: str | None}, tags?: list[str], state?: str | None, \
         score?: float | None, extra?: dict[str, int], any?: Any}"
    );
    assert_eq!(declared(&schema).short(), "{id, owner: {login, url}, tags: [str], state, score, extra, any}");
}

#[test]
fn agt_2_a_recursive_schema_has_a_finite_shape() {
    let schema = json!({"$ref": "#/$defs/N", "$defs": {"N": {"properties": {
        "left": {"$ref": "#/$defs/N"}, "right": {"$ref": "#/$defs/N"}, "next": {"$ref": "#/$defs/N"}}}}});
    let text = declared(&schema).to_string();
    assert!(text.len() < 10_000, "{}", text.len());
    assert!(declared(&schema).short().chars().count() <= 160);
    let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert_eq!(declared(&circle), Shape::Any);
}

#[test]
fn agt_2_a_long_shape_is_shortened() {
    let keys = |count: usize| -> serde_json::Map<String, Value> {
        (0..count).map(|index| (format!("a_rather_long_key_{index}"), json!({"type": "string"}))).collect()
    };
    let schema = json!({"properties": {"items": {"type": "array", "items": {"properties": keys(40)}},
        "next": {"type": "string"}}});
    let short = declared(&schema).short();
    assert!(short.chars().count() <= 160 && short.contains("next") && short.contains('…'), "{short}");
}

#[test]
fn agt_2_optional_keys_need_three_results_to_become_required() {
    let one = json!({"a": 1});
    assert_eq!(learned(&[one.clone(), one.clone()]).shape().to_string(), "{a?: int}");
    assert_eq!(learned(&[one.clone(), one.clone(), one.clone()]).shape().to_string(), "{a: int}");
    let results = [one.clone(), one.clone(), one, json!({"b": [1, 2.5]})];
    assert_eq!(learned(&results).shape().to_string(), "{a?: int, b?: list[float]}");
}

#[test]
fn agt_2_keys_that_are_data_are_never_kept() {
    for key in [
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "17",
        "jane@example.org",
        "https://example.org/x",
        "sk-ant-api03-abcdefghijklmnop1234567890",
        "two words",
        "/etc/passwd",
        "",
        "🙂",
    ] {
        let shape = learned(&[json!({key: {"secret": "value"}, "plain": {"secret": "x"}})]);
        let stored = serde_json::to_string(&shape).unwrap();
        assert!(key.is_empty() || !stored.contains(key), "{stored}");
        assert!(!stored.contains("plain") && stored.contains("secret"), "{stored}");
        assert_eq!(shape.shape().to_string(), "dict[str, {secret?: str}]");
    }
    let many: serde_json::Map<String, Value> = (0..100)
        .map(|index| {
            (format!("user_{}", (b'a' + index % 26) as char).repeat(1 + usize::from(index / 26)), json!(1))
        })
        .collect();
    assert_eq!(learned(&[Value::Object(many)]).shape().to_string(), "dict[str, int]");
}

#[test]
fn agt_2_no_value_is_ever_stored() {
    let results = [json!({"token": "hunter2", "n": 4711, "list": ["hunter3", {"deep": "hunter4"}]})];
    let stored = serde_json::to_string(&learned(&results)).unwrap();
    assert!(!stored.contains("hunter") && !stored.contains("4711"), "{stored}");
    let restored: LearnedShape = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored, learned(&results));
}

#[test]
fn agt_2_learning_is_bounded() {
    let wide: Vec<Value> = (0..10_000)
        .map(|index| json!({"level": {format!("k{}", char::from(b'a' + u8::try_from(index % 26).unwrap())): index}}))
        .collect();
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({"inner": deep});
    }
    let mut shape = learned(&[Value::Array(wide), deep]);
    let stored = serde_json::to_string(&shape).unwrap();
    assert!(stored.len() < 20_000, "{}", stored.len());
    let copy = shape.clone();
    shape.merge(&copy);
    assert_eq!(shape.results(), 4);
}

#[test]
fn agt_2_merging_is_like_seeing_all_results() {
    let (a, b) = (json!({"x": 1, "y": [null]}), json!({"x": "s", "z": {"q": true}}));
    let mut merged = learned(std::slice::from_ref(&a));
    merged.merge(&learned(std::slice::from_ref(&b)));
    assert_eq!(merged, learned(&[a, b]));
}

#[test]
fn agt_3_a_missing_key_is_found_only_where_the_shape_is_known() {
    let schema = json!({"type": "array", "items": {"properties": {
        "user": {"anyOf": [{"properties": {"login": {}}, "additionalProperties": false}, {"type": "null"}]},
        "labels": {"type": "object"}, "any": {}}}});
    let shape = declared(&schema);
    let key = |name: &str| Step::Key(name.to_owned());
    let missing = |path: &[Step]| shape.missing_key(path).map(|it| (it.key.to_owned(), it.is_certain));
    assert_eq!(missing(&[Step::Element, key("usr")]), Some(("usr".into(), false)));
    assert_eq!(missing(&[Step::Element, key("user"), key("name")]), Some(("name".into(), true)));
    assert_eq!(missing(&[Step::Element, key("user"), key("login"), key("x")]), None);
    assert_eq!(missing(&[Step::Element, key("labels"), key("x")]), None);
    assert_eq!(missing(&[Step::Element, key("any"), key("x"), Step::Element]), None);
    assert_eq!(missing(&[key("x")]), None);
}
