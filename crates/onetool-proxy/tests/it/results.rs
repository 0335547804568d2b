//! The results of calls.

use onetool_core::{CallContext, ContentBlock, JsonObject, ToolError};
use serde_json::{Value, json};

use crate::kit::{call, connected, data, scripted, text, tool};

#[tokio::test]
async fn seam_10_structured_content_json_text_text_and_images_are_unchanged() {
    let upstream = connected(scripted(&[])).await;
    let structured = call(&upstream, "structured").await.unwrap();
    assert_eq!(structured.structured_content, Some(json!({"n": 1})));
    let json_text = call(&upstream, "json").await.unwrap();
    assert_eq!((text(&json_text), &json_text.structured_content), (r#"{"b": 1, "a": [true, null]}"#, &None));
    let image = call(&upstream, "image").await.unwrap();
    assert!(
        matches!(&image.content[..], [ContentBlock::Image { mime_type, .. }] if mime_type == "image/png")
    );
    assert_eq!(image.structured_content, None);
    let plain = call(&upstream, "grow").await.unwrap();
    assert_eq!((text(&plain), plain.structured_content.as_ref()), ("grown", None));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_6_tool_errors_and_protocol_errors_keep_the_upstreams_message() {
    let upstream = connected(scripted(&[])).await;
    let failed = call(&upstream, "fail").await.unwrap();
    assert!(failed.is_error && text(&failed) == r#"{"no": 1}"# && failed.structured_content.is_none());
    let rejected = call(&upstream, "reject").await.unwrap_err();
    assert_eq!(rejected.to_string(), "invalid arguments (error -32602)");
    let sign_in = call(&upstream, "sign-in").await.unwrap_err();
    assert_eq!(sign_in.to_string(), "sign in first; the user must open: https://example.org/in");
    assert!(
        matches!(sign_in, ToolError::UrlRequired { data, .. } if data["elicitations"][0]["mode"] == "url")
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_arguments_arrive_unchanged_and_odd_names_are_callable() {
    let upstream = connected(scripted(&[])).await;
    let args: JsonObject = serde_json::from_str(r#"{"z": null, "a": 1.5, "ü": ["x", {"q": true}]}"#).unwrap();
    for name in ["echo", "two_words"] {
        let output = tool(&upstream, name).call(args.clone(), &CallContext::detached()).await.unwrap();
        assert_eq!(data(&output), Value::Object(args.clone()));
        // In the same order.
        assert_eq!(text(&output), r#"{"z":null,"a":1.5,"ü":["x",{"q":true}]}"#);
    }
    upstream.shut_down().await;
}
