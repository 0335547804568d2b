//! Request bodies of every kind.

use serde_json::{Value, json};

use crate::support::{Recorded, Upstream, call, invalid, load_at, openapi, tool};

async fn sent(media: Value, args: Value) -> Recorded {
    let upstream = Upstream::empty().await;
    let operation = json!({"operationId": "go", "requestBody": {"required": true, "content": media}});
    let api = load_at(&upstream, &openapi(json!({"/x": {"post": operation}}))).await;
    call(&api, "go", args).await.unwrap();
    upstream.only()
}

fn object() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
           "owner": {"type": "object"}}, "required": ["name"]})
}

#[tokio::test]
async fn oas_1_3_json_bodies_have_the_shape_of_the_schema() {
    let json = |schema: Value| json!({"application/json": {"schema": schema}});
    for (schema, args, expected) in [
        (object(), json!({"name": "a", "owner": {"x": null}}), json!({"name": "a", "owner": {"x": null}})),
        (json!({"type": "array", "items": {"type": "integer"}}), json!({"body": [1, 2]}), json!([1, 2])),
        (json!({"type": "string"}), json!({"body": "text"}), json!("text")),
        (
            json!({"oneOf": [object(), {"type": "array"}]}),
            json!({"body": {"name": "a"}}),
            json!({"name": "a"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"body": {"b": 1}}),
            json!({"b": 1}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"body": {"k": "v"}}),
            json!({"k": "v"}),
        ),
        (
            json!({"allOf": [object(), {"properties": {"age": {"type": "integer"}}}]}),
            json!({"name": "a", "age": 3}),
            json!({"name": "a", "age": 3}),
        ),
        (
            json!({"type": "object", "properties": {"@type": {}, "a-b": {}}}),
            json!({"type": 1, "a_b": 2}),
            json!({"@type": 1, "a-b": 2}),
        ),
        (
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}),
            json!({"a": 1, "z": 2}),
            json!({"a": 1, "z": 2}),
        ),
    ] {
        let seen = sent(json(schema.clone()), args).await;
        assert_eq!(seen.json(), expected, "{schema}");
        assert_eq!(seen.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn oas_1_3_forms_follow_their_encoding() {
    let form = |encoding: Value| json!({"application/x-www-form-urlencoded": {"schema": object(), "encoding": encoding}});
    let args = json!({"name": "a b&c", "tags": ["x", "y"], "owner": {"id": 1}});
    for (encoding, expected) in [
        (json!({}), "name=a+b%26c&tags=x&tags=y&owner=%7B%22id%22%3A1%7D"),
        (
            json!({"tags": {"style": "form", "explode": false}, "owner": {"style": "deepObject"}}),
            "name=a+b%26c&tags=x%2Cy&owner%5Bid%5D=1",
        ),
        (
            json!({"tags": {"style": "deepObject", "explode": true}, "owner": {"style": "form", "explode": true}}),
            "name=a+b%26c&tags%5B0%5D=x&tags%5B1%5D=y&id=1",
        ),
        (
            json!({"tags": {"contentType": "application/json"}}),
            "name=a+b%26c&tags=%5B%22x%22%2C%22y%22%5D&owner=%7B%22id%22%3A1%7D",
        ),
    ] {
        let seen = sent(form(encoding.clone()), args.clone()).await;
        assert_eq!(seen.text(), expected, "{encoding}");
        assert_eq!(seen.header("content-type"), Some("application/x-www-form-urlencoded"));
    }
}

/// Splits a multipart body into headers and contents.
fn parts(seen: &Recorded) -> Vec<(String, Vec<u8>)> {
    let content_type = seen.header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let text: String = seen.body.iter().map(|byte| char::from(*byte)).collect();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).unwrap();
    let separator = format!("--{boundary}\r\n");
    let split = inner.split(&separator).skip(1);
    split
        .map(|part| {
            let (head, content) = part.split_once("\r\n\r\n").unwrap();
            let content = content.strip_suffix("\r\n").unwrap().chars().map(|c| u8::try_from(c).unwrap());
            (head.to_owned(), content.collect())
        })
        .collect()
}

#[tokio::test]
async fn oas_1_3_files_are_uploaded_as_files() {
    let schema = json!({"type": "object", "properties": {
        "file": {"type": "string", "format": "binary"}, "note": {"type": "string"}, "meta": {"type": "object"},
        "more": {"type": "array", "items": {"type": "string", "format": "binary"}}, "icon": {"type": "string"}
    }});
    let media = json!({"multipart/form-data": {"schema": schema, "encoding": {"icon": {"contentType": "image/png, image/gif"}}}});
    let args = json!({
        "file": "data:text/plain;name=a%20b.txt;base64,AP9oaQ==", "note": "n\r\nü", "meta": {"k": 1},
        "more": ["aGk=", "data:,plain%21"], "icon": "aWNvbg"
    });
    let seen = sent(media, args).await;
    let parts = parts(&seen);
    let heads: Vec<&str> = parts.iter().map(|(head, _)| head.as_str()).collect();
    assert_eq!(
        heads,
        [
            "Content-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\nContent-Type: text/plain",
            "Content-Disposition: form-data; name=\"note\"",
            "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json",
            "Content-Disposition: form-data; name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream",
            "Content-Disposition: form-data; name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream",
            "Content-Disposition: form-data; name=\"icon\"; filename=\"icon\"\r\nContent-Type: image/png",
        ]
    );
    let contents: Vec<&[u8]> = parts.iter().map(|(_, content)| content.as_slice()).collect();
    assert_eq!(contents[..3], [b"\x00\xffhi", "n\r\nü".as_bytes(), b"{\"k\":1}"]);
    assert_eq!(contents[3..], [b"hi".as_slice(), b"plain!", b"icon"]);
}

#[tokio::test]
async fn oas_1_3_text_and_bytes_are_sent_unchanged() {
    let seen = sent(json!({"text/plain": {"schema": {"type": "string"}}}), json!({"body": "grüße"})).await;
    assert_eq!((seen.text(), seen.header("content-type")), ("grüße", Some("text/plain; charset=utf-8")));
    let seen =
        sent(json!({"application/xml": {"schema": {"type": "object"}}}), json!({"body": "<a/>"})).await;
    assert_eq!((seen.text(), seen.header("content-type")), ("<a/>", Some("application/xml")));
    let binary = json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}});
    let seen = sent(binary.clone(), json!({"body": "AAH/"})).await;
    assert_eq!(
        (seen.body.as_slice(), seen.header("content-type")),
        ([0, 1, 255].as_slice(), Some("application/octet-stream"))
    );
    let seen = sent(binary.clone(), json!({"body": "data:image/png;base64,AAH/"})).await;
    assert_eq!(seen.header("content-type"), Some("image/png"));
    let upstream = Upstream::empty().await;
    let operation = json!({"operationId": "go", "requestBody": {"content": binary}});
    let api = load_at(&upstream, &openapi(json!({"/x": {"put": operation}}))).await;
    let error = call(&api, "go", json!({"body": "not base64!"})).await.unwrap_err();
    assert!(error.to_string().contains("'body' must be a file"), "{error}");
}

#[tokio::test]
async fn oas_1_3_swagger_2_bodies_and_form_data() {
    let upstream = Upstream::empty().await;
    let description = json!({"swagger": "2.0", "consumes": ["application/json"], "paths": {
        "/pet": {"post": {"operationId": "add", "parameters": [{"in": "body", "name": "pet", "required": true, "schema": {"$ref": "#/definitions/Pet"}}]}},
        "/list": {"post": {"operationId": "many", "parameters": [{"in": "body", "name": "pets", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}]}},
        "/form": {"post": {"operationId": "form", "consumes": ["application/x-www-form-urlencoded"], "parameters": [
            {"in": "formData", "name": "name", "type": "string", "required": true},
            {"in": "formData", "name": "tags", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"},
            {"in": "formData", "name": "ids", "type": "array", "items": {"type": "integer"}}]}},
        "/file": {"post": {"operationId": "file", "consumes": ["multipart/form-data"], "parameters": [
            {"in": "formData", "name": "upload", "type": "file"}, {"in": "formData", "name": "note", "type": "string"}]}}
    }, "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}});
    let api = load_at(&upstream, &description).await;
    call(&api, "add", json!({"name": "Rex"})).await.unwrap();
    assert_eq!(upstream.only().json(), json!({"name": "Rex"}));
    call(&api, "many", json!({"body": [{"name": "Rex"}]})).await.unwrap();
    assert_eq!(upstream.only().json(), json!([{"name": "Rex"}]));
    call(&api, "form", json!({"name": "a", "tags": ["x", "y"], "ids": [1, 2]})).await.unwrap();
    assert_eq!(upstream.only().text(), "name=a&tags=x&tags=y&ids=1%2C2");
    call(&api, "file", json!({"upload": "aGk=", "note": "n"})).await.unwrap();
    let parts = parts(&upstream.only());
    assert_eq!((parts[0].1.as_slice(), parts[1].1.as_slice()), (b"hi".as_slice(), b"n".as_slice()));
}

#[tokio::test]
async fn oas_1_3_an_optional_body_is_omitted_or_complete() {
    let upstream = Upstream::empty().await;
    let operation = json!({"operationId": "go", "requestBody": {"content": {"application/json": {"schema":
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": "x"}}, "required": ["a"]}}}}});
    let api = load_at(&upstream, &openapi(json!({"/x": {"patch": operation}}))).await;
    call(&api, "go", json!({})).await.unwrap();
    let seen = upstream.only();
    assert_eq!((seen.body.len(), seen.header("content-type")), (0, None));
    assert!(invalid(tool(&api, "go"), &json!({"b": "y"})).unwrap().contains("\"a\""));
    // Defaults are not in the schema, or callers would fill them in and overwrite existing data in an update.
    assert_eq!(tool(&api, "go").spec().input_schema["properties"]["b"].get("default"), None);
    assert_eq!(tool(&api, "go").spec().input_schema["properties"]["b"]["description"], "(default: \"x\")");
}
