//! The same comes of a description whichever process reads it.

use indexmap::IndexMap;
use serde_json::json;
use url::Url;

use super::{Read, Reading, read_description};
use crate::ApiOptions;
use crate::document::Location;
use crate::options::PlanOptions;

fn reading(documents: &[(&str, &str)]) -> Reading {
    let url = |path: &str| Location::Url(Url::parse("https://example.org/").unwrap().join(path).unwrap());
    let documents = documents.iter().map(|(path, text)| (url(path), text.as_bytes().to_vec())).collect();
    Reading { documents, failed: IndexMap::new(), options: PlanOptions::from(&ApiOptions::new("pets")) }
}

fn both_ways(reading: &Reading) -> [Vec<u8>; 2] {
    let there = Read::decode(read_description(reading.encode())).unwrap();
    [reading.read_here().encode(), there.encode()]
}

#[test]
fn h3_a_plan_comes_back_whole() {
    let text = json!({
        "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets/{id}": {"get": {
            "operationId": "getPet", "description": "One pet.",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
        }}},
        "components": {"schemas": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}},
    });
    let [here, there] = both_ways(&reading(&[("api.json", &text.to_string())]));
    assert!(here.len() > 200);
    assert_eq!(here, there);
}

#[test]
fn h3_needs_and_errors_come_back_too() {
    let needy = r#"{"openapi": "3.0.0", "paths": {"/a": {"$ref": "other.yaml#/a"}}}"#;
    for (documents, expected) in [
        (vec![("api.json", needy)], "needs"),
        (vec![("api.json", needy), ("other.yaml", "a: [")], "broken"),
        (vec![("api.json", "{")], "failed"),
        (vec![("api.json", r#"{"swagger": "1.2"}"#)], "failed"),
    ] {
        let [here, there] = both_ways(&reading(&documents));
        assert_eq!(here, there);
        assert!(String::from_utf8_lossy(&here).contains(expected), "{}", String::from_utf8_lossy(&here));
    }
}

#[test]
fn h3_a_message_that_is_not_one_gives_nothing() {
    for message in [&b""[..], b"12345678", b"\x02\0\0\0\0\0\0\0{}", &[255; 100]] {
        assert!(read_description(message.to_vec()).is_empty());
    }
    assert!(Read::decode(Vec::new()).is_none());
    assert!(Read::decode(b"onetoolA and more".to_vec()).is_none());
}
