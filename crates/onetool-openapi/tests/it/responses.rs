//! How responses become tool outputs.

use std::io::Write as _;

use onetool_core::ContentBlock;
use serde_json::{Value, json};

use crate::support::{Reply, Upstream, call, call_with, load_at, load_text, openapi, options_at};

async fn output_of(reply: impl Fn() -> Reply + Send + Sync + 'static) -> onetool_core::ToolOutput {
    let upstream = Upstream::start(move |_| reply()).await;
    let api = load_at(&upstream, &openapi(json!({"/x": {"get": {"operationId": "go"}}}))).await;
    call(&api, "go", json!({})).await.unwrap()
}

#[tokio::test]
async fn oas_1_4_json_is_structured_and_text_is_text() {
    let output = output_of(|| Reply::json(&json!({"b": 1, "a": [null]}))).await;
    assert_eq!(output.structured_content, Some(json!({"b": 1, "a": [null]})));
    assert_eq!(output.content, [ContentBlock::text(r#"{"b":1,"a":[null]}"#)]);
    let problem = output_of(|| Reply::new(200, "application/vnd.x+json; charset=utf-8", "[1]")).await;
    assert_eq!(problem.structured_content, Some(json!([1])));
    let text = output_of(|| Reply::new(200, "text/csv", "a,b\n1,ü")).await;
    assert_eq!((text.content, text.structured_content), (vec![ContentBlock::text("a,b\n1,ü")], None));
    let latin =
        output_of(|| Reply::new(200, "text/plain; charset=ISO-8859-1", b"gr\xfc\xdfe".to_vec())).await;
    assert_eq!(latin.content, [ContentBlock::text("grüße")]);
    let broken = output_of(|| Reply::new(200, "application/json", "{oops")).await;
    assert_eq!(broken.content, [ContentBlock::text("{oops")]);
    let empty = output_of(|| Reply { status: 204, headers: vec![], body: vec![] }).await;
    assert_eq!(empty.content, [ContentBlock::text("204 No Content (empty response)")]);
}

#[tokio::test]
async fn agt_7_the_whole_response_has_status_headers_and_data() {
    let upstream = Upstream::start(move |request| {
        let mut reply = match request.line.split(' ').nth(1).unwrap_or_default() {
            "/busy" => Reply::new(429, "application/json", r#"{"message":"slow down"}"#),
            "/image" => Reply::new(200, "image/png", vec![0, 1, 2]),
            "/empty" => Reply { status: 204, headers: vec![], body: vec![] },
            _ => Reply::json(&json!([1])),
        };
        for (name, value) in
            [("link", "<https://x/?page=2>; rel=\"next\""), ("retry-after", "7"), ("set-cookie", "a=b")]
        {
            reply.headers.push((name, value.to_owned()));
        }
        reply
    })
    .await;
    let paths = ["/list", "/busy", "/image", "/empty"];
    let paths: serde_json::Map<String, Value> =
        paths.iter().map(|it| ((*it).to_owned(), json!({"get": {"operationId": it[1..]}}))).collect();
    let api = load_at(&upstream, &openapi(Value::Object(paths))).await;
    let cx = onetool_core::CallContext::detached().with_full_response();
    let output = async |name: &str| call_with(&api, name, json!({}), &cx).await.unwrap();
    let list = output("list").await.structured_content.unwrap();
    assert_eq!((&list["status"], &list["data"]), (&json!(200), &json!([1])));
    assert_eq!(list["headers"]["link"], "<https://x/?page=2>; rel=\"next\"");
    assert_eq!(list["headers"].get("set-cookie"), None);
    let busy = output("busy").await;
    assert!(!busy.is_error, "an error status is a result as well");
    let busy = busy.structured_content.unwrap();
    assert_eq!((&busy["status"], &busy["headers"]["retry-after"]), (&json!(429), &json!("7")));
    assert_eq!(busy["data"], json!({"message": "slow down"}));
    let image = output("image").await;
    assert!(image.content.contains(&ContentBlock::image([0, 1, 2], "image/png")), "{image:?}");
    assert_eq!(output("empty").await.structured_content.unwrap()["data"], Value::Null);
}

#[tokio::test]
async fn oas_1_4_binary_is_a_blob_byte_for_byte() {
    let bytes: Vec<u8> = (0..=255).collect();
    let sent = bytes.clone();
    let image = output_of(move || Reply::new(200, "image/png", sent.clone())).await;
    assert_eq!(image.content, [ContentBlock::image(&bytes, "image/png")]);
    let sent = bytes.clone();
    let blob = output_of(move || Reply::new(200, "application/zip", sent.clone())).await;
    let ContentBlock::Resource { resource, .. } = &blob.content[0] else { panic!("{blob:?}") };
    assert_eq!(resource.mime_type.as_deref(), Some("application/zip"));
    assert_eq!(resource.blob, onetool_core::ResourceContents::blob(&bytes, "").blob);
}

#[tokio::test]
async fn oas_1_4_an_http_error_is_a_tool_error_with_status_and_body() {
    let output =
        output_of(|| Reply::new(422, "application/json", r#"{"message":"Validation Failed"}"#)).await;
    assert!(output.is_error);
    assert_eq!(
        output.content,
        [ContentBlock::text(r#"HTTP 422 Unprocessable Entity: {"message":"Validation Failed"}"#)]
    );
    assert_eq!(
        output.structured_content,
        Some(json!({"status": 422, "body": {"message": "Validation Failed"}}))
    );
    let long = output_of(|| Reply::new(500, "text/html", "x".repeat(10_000))).await;
    let text = long.content[0].as_text().unwrap();
    assert!(text.starts_with("HTTP 500 Internal Server Error: xxx") && text.ends_with("[…]"));
    assert!(text.len() < 4_100 && long.structured_content.is_none());
}

#[tokio::test]
async fn oas_1_4_responses_are_decompressed_and_limited() {
    let compressed = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let small = compressed(br#"{"a":1}"#);
    // A decompression bomb: 10 MB in 10 KB.
    let large = compressed(&vec![b'x'; 10 << 20]);
    let upstream = Upstream::start(move |seen| {
        let body = if seen.line.contains("small") { small.clone() } else { large.clone() };
        let mut reply = Reply::new(200, "application/json", body);
        reply.headers.push(("content-encoding", "gzip".into()));
        reply
    })
    .await;
    let description = openapi(
        json!({"/small": {"get": {"operationId": "small"}}, "/large": {"get": {"operationId": "large"}}}),
    );
    let mut options = options_at(&upstream);
    options.limits.response_bytes = 1 << 20;
    let api = load_text(description.to_string(), options).await.unwrap();
    assert_eq!(call(&api, "small", json!({})).await.unwrap().structured_content, Some(json!({"a": 1})));
    let error = call(&api, "large", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the response is larger than the limit of 1048576 bytes");
    assert!(upstream.take()[0].header("accept-encoding").unwrap().contains("gzip"));
}

#[tokio::test]
async fn oas_1_4_json_is_requested_if_the_operation_supports_it() {
    let upstream = Upstream::empty().await;
    let responses = |types: Value| {
        let types = types.as_array().unwrap().iter().map(|it| (it.as_str().unwrap().to_owned(), json!({})));
        json!({"200": {"description": "", "content": types.collect::<serde_json::Map<_, _>>()}})
    };
    let description = openapi(json!({
        "/a": {"get": {"operationId": "a", "responses": responses(json!(["text/html", "application/vnd.api+json"]))}},
        "/b": {"get": {"operationId": "b", "responses": responses(json!(["application/zip"]))}},
        "/c": {"get": {"operationId": "c"}},
    }));
    let api = load_at(&upstream, &description).await;
    for (name, accept) in
        [("a", "application/vnd.api+json"), ("b", "application/zip"), ("c", "application/json")]
    {
        call(&api, name, json!({})).await.unwrap();
        assert_eq!(upstream.only().header("accept").unwrap(), format!("{accept}, */*;q=0.5"));
    }
}
