//! Every style of every place, as it is sent.

use serde_json::{Value, json};

use crate::support::{Upstream, call, invalid, load_at, openapi, tool};

/// Calls an API that has one GET operation with one parameter, and returns the request that the server received.
async fn sent(path: &str, parameter: Value, value: Value) -> crate::support::Recorded {
    let upstream = Upstream::empty().await;
    let api = load_at(
        &upstream,
        &openapi(json!({path: {"get": {"operationId": "go", "parameters": [parameter]}}})),
    )
    .await;
    call(&api, "go", json!({"color": value})).await.unwrap();
    upstream.only()
}

fn values() -> (Value, Value, Value, Value) {
    let object = json!({"R": 100, "G": 200, "B": 150});
    (json!(""), json!("blue"), json!(["blue", "black", "brown"]), object)
}

#[tokio::test]
async fn oas_1_3_path_styles_match_the_specification() {
    let (_, one, list, object) = values();
    for (style, explode, value, expected) in [
        ("simple", false, &one, "blue"),
        ("simple", true, &one, "blue"),
        ("simple", false, &list, "blue,black,brown"),
        ("simple", true, &list, "blue,black,brown"),
        ("simple", false, &object, "R,100,G,200,B,150"),
        ("simple", true, &object, "R=100,G=200,B=150"),
        ("label", false, &one, ".blue"),
        ("label", true, &one, ".blue"),
        ("label", false, &list, ".blue,black,brown"),
        ("label", true, &list, ".blue.black.brown"),
        ("label", false, &object, ".R,100,G,200,B,150"),
        ("label", true, &object, ".R=100.G=200.B=150"),
        ("matrix", false, &one, ";color=blue"),
        ("matrix", true, &one, ";color=blue"),
        ("matrix", false, &list, ";color=blue,black,brown"),
        ("matrix", true, &list, ";color=blue;color=black;color=brown"),
        ("matrix", false, &object, ";color=R,100,G,200,B,150"),
        ("matrix", true, &object, ";R=100;G=200;B=150"),
        ("matrix", false, &json!(""), ";color"),
    ] {
        let parameter =
            json!({"name": "color", "in": "path", "required": true, "style": style, "explode": explode});
        let line = sent("/x/{color}/y", parameter, value.clone()).await.line;
        assert_eq!(line, format!("GET /x/{expected}/y"), "{style} {explode} {value}");
    }
}

#[tokio::test]
async fn oas_1_3_query_styles_match_the_specification() {
    let (empty, one, list, object) = values();
    for (style, explode, value, expected) in [
        ("form", true, &empty, "?color="),
        ("form", true, &one, "?color=blue"),
        ("form", false, &one, "?color=blue"),
        ("form", true, &list, "?color=blue&color=black&color=brown"),
        ("form", false, &list, "?color=blue,black,brown"),
        ("form", true, &object, "?R=100&G=200&B=150"),
        ("form", false, &object, "?color=R,100,G,200,B,150"),
        ("spaceDelimited", false, &list, "?color=blue%20black%20brown"),
        ("spaceDelimited", false, &object, "?color=R%20100%20G%20200%20B%20150"),
        ("spaceDelimited", true, &list, "?color=blue&color=black&color=brown"),
        ("pipeDelimited", false, &list, "?color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", false, &object, "?color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", true, &object, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (
            "deepObject",
            true,
            &json!({"a": {"b": ["x", {"c": true}]}}),
            "?color%5Ba%5D%5Bb%5D%5B0%5D=x&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=true",
        ),
        ("deepObject", true, &json!(["x", "y"]), "?color%5B0%5D=x&color%5B1%5D=y"),
        ("form", true, &json!([]), ""),
        ("form", true, &json!(null), ""),
        ("form", true, &json!("a b&c=d/ü,?#+%"), "?color=a%20b%26c%3Dd%2F%C3%BC%2C%3F%23%2B%25"),
        ("form", false, &json!(["a,b", "c"]), "?color=a%2Cb,c"),
    ] {
        let parameter = json!({"name": "color", "in": "query", "style": style, "explode": explode});
        let line = sent("/x", parameter, value.clone()).await.line;
        assert_eq!(line, format!("GET /x{expected}"), "{style} {explode} {value}");
    }
}

#[tokio::test]
async fn oas_1_3_defaults_of_style_and_explode_depend_on_the_place() {
    let list = json!(["a", "b"]);
    let query = sent("/x", json!({"name": "color", "in": "query"}), list.clone()).await;
    assert_eq!(query.line, "GET /x?color=a&color=b");
    let path = sent("/x/{color}", json!({"name": "color", "in": "path"}), list.clone()).await;
    assert_eq!(path.line, "GET /x/a,b");
    let header = sent("/x", json!({"name": "color", "in": "header"}), list.clone()).await;
    assert_eq!(header.header("color"), Some("a,b"));
    let cookie = sent("/x", json!({"name": "color", "in": "cookie"}), json!("a b")).await;
    assert_eq!((cookie.line.as_str(), cookie.header("cookie")), ("GET /x", Some("color=a%20b")));
}

#[tokio::test]
async fn oas_1_3_headers_and_cookies_follow_their_style() {
    let (_, _, list, object) = values();
    for (explode, value, expected) in [
        (false, &object, "R,100,G,200,B,150"),
        (true, &object, "R=100,G=200,B=150"),
        (true, &list, "blue,black,brown"),
        (false, &json!("with space, and comma"), "with space, and comma"),
    ] {
        let parameter = json!({"name": "color", "in": "header", "explode": explode});
        assert_eq!(sent("/x", parameter, value.clone()).await.header("color"), Some(expected));
    }
    for (explode, value, expected) in [
        (false, &list, "color=blue,black,brown"),
        (true, &list, "color=blue; color=black; color=brown"),
        (true, &object, "R=100; G=200; B=150"),
    ] {
        let parameter = json!({"name": "color", "in": "cookie", "explode": explode});
        assert_eq!(sent("/x", parameter, value.clone()).await.header("cookie"), Some(expected));
    }
}

#[tokio::test]
async fn oas_1_3_reserved_characters_and_json_parameters() {
    let reserved = json!({"name": "color", "in": "query", "allowReserved": true});
    let line = sent("/x", reserved, json!("a/b?c=d:e,f&g#h i+j")).await.line;
    assert_eq!(line, "GET /x?color=a/b?c=d:e,f%26g%23h%20i%2Bj");
    let content = json!({"name": "color", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}});
    let line = sent("/x", content, json!({"a": [1, "b"]})).await.line;
    assert_eq!(line, "GET /x?color=%7B%22a%22%3A%5B1%2C%22b%22%5D%7D");
}

#[tokio::test]
async fn oas_1_3_collection_formats_of_swagger_2() {
    let list = json!(["a", "b c"]);
    for (place, format, expected) in [
        ("query", "csv", "GET /x?color=a,b%20c"),
        ("query", "ssv", "GET /x?color=a%20b%20c"),
        ("query", "tsv", "GET /x?color=a%09b%20c"),
        ("query", "pipes", "GET /x?color=a%7Cb%20c"),
        ("query", "multi", "GET /x?color=a&color=b%20c"),
        ("path", "csv", "GET /x/a,b%20c"),
        ("path", "pipes", "GET /x/a%7Cb%20c"),
    ] {
        let path = if place == "path" { "/x/{color}" } else { "/x" };
        let parameter = json!({"name": "color", "in": place, "required": place == "path", "type": "array",
                               "items": {"type": "string"}, "collectionFormat": format});
        let upstream = Upstream::empty().await;
        let description = json!({"swagger": "2.0", "info": {}, "paths": {path: {"get": {"operationId": "go", "parameters": [parameter]}}}});
        let api = load_at(&upstream, &description).await;
        call(&api, "go", json!({"color": list})).await.unwrap();
        assert_eq!(upstream.only().line, expected, "{place} {format}");
    }
}

#[tokio::test]
async fn oas_1_3_values_that_would_change_the_request_are_rejected() {
    let upstream = Upstream::empty().await;
    let parameters = json!([{"name": "id", "in": "path", "schema": {"type": "string"}}, {"name": "X-Tag", "in": "header"}]);
    let api = load_at(
        &upstream,
        &openapi(json!({"/a/{id}/b": {"get": {"operationId": "go", "parameters": parameters}}})),
    )
    .await;
    for (args, reason) in [
        (json!({"id": ".."}), "'.' or '..'"),
        (json!({"id": "."}), "'.' or '..'"),
        (json!({"id": "%2e%2E"}), ""),
        (json!({"id": ""}), "'id' must not be empty"),
        (json!({"id": "x", "X_Tag": "a\r\nEvil: yes"}), "'X_Tag' contains line breaks"),
        (json!({"id": "x", "X_Tag": "a\nEvil: yes"}), "'X_Tag' contains line breaks"),
    ] {
        match call(&api, "go", args.clone()).await {
            Err(error) => {
                assert!(error.to_string().contains(reason) && !reason.is_empty(), "{args}: {error}");
            }
            Ok(_) => assert!(reason.is_empty(), "{args}"),
        }
    }
    // A value that looks escaped is escaped again.
    assert_eq!(upstream.only().line, "GET /a/%252e%252E/b");
    call(&api, "go", json!({"id": "a/../b?c#d{id}"})).await.unwrap();
    assert_eq!(upstream.only().line, "GET /a/a%2F..%2Fb%3Fc%23d%7Bid%7D/b");
    // A missing path argument is never sent as %7Bid%7D: the schema rejects it, and so does the call.
    assert!(invalid(tool(&api, "go"), &json!({})).unwrap().contains("id"));
    let unchecked =
        tool(&api, "go").call(onetool_core::JsonObject::new(), &onetool_core::CallContext::detached()).await;
    assert!(unchecked.unwrap_err().to_string().contains("missing required argument 'id'"));
    assert!(upstream.take().is_empty());
}

#[tokio::test]
async fn oas_1_3_one_name_in_several_places_becomes_several_arguments() {
    let upstream = Upstream::empty().await;
    let parameters = json!([
        {"name": "id", "in": "query"}, {"name": "id", "in": "path"}, {"name": "id", "in": "header"},
        {"name": "id", "in": "cookie"}, {"name": "filter[name]", "in": "query"}
    ]);
    let body = json!({"required": true, "content": {"application/json": {"schema":
        {"type": "object", "properties": {"id": {"type": "integer"}, "n": {"type": "string"}}, "required": ["n"]}}}});
    let operation = json!({"operationId": "go", "parameters": parameters, "requestBody": body});
    let api = load_at(&upstream, &openapi(json!({"/x/{id}": {"delete": operation}}))).await;
    let args = json!({"id": "p", "id_query": "q", "id_header": "h", "id_cookie": "c", "filter_name": "f",
                      "body": {"id": 1, "n": "x"}});
    call(&api, "go", args).await.unwrap();
    let seen = upstream.only();
    assert_eq!(seen.line, "DELETE /x/p?id=q&filter%5Bname%5D=f");
    assert_eq!((seen.header("id"), seen.header("cookie")), (Some("h"), Some("id=c")));
    assert_eq!(seen.json(), json!({"id": 1, "n": "x"}));
}
