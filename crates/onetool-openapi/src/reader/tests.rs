//! Reading in this process and reading in a job give the same response.

use indexmap::IndexMap;
use serde_json::json;
use url::Url;

use super::{ReadRequest, ReadResponse, read_description};
use crate::location::Location;
use crate::options::{ApiOptions, PlanOptions};

fn request(documents: &[(&str, &str)]) -> ReadRequest {
    let url = |path: &str| Location::Url(Url::parse("https://example.org/").unwrap().join(path).unwrap());
    let documents = documents.iter().map(|(path, text)| (url(path), text.as_bytes().to_vec())).collect();
    ReadRequest { documents, failed: IndexMap::new(), options: PlanOptions::from(&ApiOptions::new("pets")) }
}

/// Returns the encoded responses from this process and from a job.
fn both_ways(request: &ReadRequest) -> [Vec<u8>; 2] {
    let from_job = ReadResponse::decode(read_description(request.encode())).unwrap();
    [request.run_in_process().encode(), from_job.encode()]
}

#[test]
fn h3_a_plan_survives_the_round_trip() {
    let text = json!({
        "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets/{id}": {"get": {
            "operationId": "getPet", "description": "One pet.",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
        }}},
        "components": {"schemas": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}},
    });
    let [in_process, from_job] = both_ways(&request(&[("api.json", &text.to_string())]));
    assert!(in_process.len() > 200);
    assert_eq!(in_process, from_job);
}

#[test]
fn h3_needs_and_errors_survive_the_round_trip() {
    let incomplete = r#"{"openapi": "3.0.0", "paths": {"/a": {"$ref": "other.yaml#/a"}}}"#;
    for (documents, expected) in [
        (vec![("api.json", incomplete)], "needs"),
        (vec![("api.json", incomplete), ("other.yaml", "a: [")], "broken"),
        (vec![("api.json", "{")], "failed"),
        (vec![("api.json", r#"{"swagger": "1.2"}"#)], "failed"),
    ] {
        let [in_process, from_job] = both_ways(&request(&documents));
        assert_eq!(in_process, from_job);
        let text = String::from_utf8_lossy(&in_process);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn h3_an_invalid_message_gives_an_empty_response() {
    for message in [&b""[..], b"12345678", b"\x02\0\0\0\0\0\0\0{}", &[255; 100]] {
        assert!(read_description(message.to_vec()).is_empty());
    }
    assert!(ReadResponse::decode(Vec::new()).is_none());
    assert!(ReadResponse::decode(b"onetoolA and more".to_vec()).is_none());
}
