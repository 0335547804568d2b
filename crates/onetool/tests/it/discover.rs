//! DSC: resources and prompts that describe the gateway over MCP.

use insta::assert_snapshot;
use onetool::Server;
use onetool_testkit::{Client, Era, RawClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway;

const ECHO: &str = r#"
tools:
  - name: demo.echo
    description: Returns a text.
    params:
      text: {type: string, description: The text to return}
      times: {type: integer, default: 1}
    command: [echo, "{{ text }}"]
docs:
  tools:
    demo.echo: {description: Echoes., examples: ["demo.echo(text='hi')"]}
"#;

fn read_json(contents: &Value) -> Value {
    assert_eq!(contents["mimeType"], "application/json");
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn dsc_1_1_the_list_of_tools_is_a_resource() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), ECHO);
    for era in Era::BOTH {
        let client = Client::connect_with(gateway.server(), era).await;
        let tools = read_json(&client.read("onetool://tools").await.unwrap());
        // The whole catalog, with the `ot` pack first.
        let tools = Value::Array(
            tools.as_array().unwrap().iter().filter(|it| it["name"] == "demo.echo").cloned().collect(),
        );
        assert_eq!(
            tools,
            json!([{"name": "demo.echo", "signature": "demo.echo(text: str, times: int = 1)", "description": "Echoes."}])
        );
    }
}

#[tokio::test]
async fn dsc_1_2_without_tools_the_list_is_empty() {
    let server = Server::builder().discovery().build().unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(client.read("onetool://tools").await.unwrap()["text"], "[]");
}

#[tokio::test]
async fn dsc_2_1_one_tool_is_a_resource_by_either_name() {
    let folder = TempDir::new().unwrap();
    let client = Client::connect(gateway(folder.path(), ECHO).server()).await;
    assert_eq!(client.list_resource_templates().await[0]["uriTemplate"], "onetool://tool/{name}");
    let expected = json!({
        "name": "demo.echo",
        "signature": "demo.echo(text: str, times: int = 1)",
        "description": "Echoes.",
        "args": [
            {"name": "text", "type": "str", "required": true, "description": "The text to return"},
            {"name": "times", "type": "int", "required": false, "default": 1},
        ],
        "examples": ["demo.echo(text='hi')"],
    });
    for name in ["demo.echo", "demo_echo"] {
        assert_eq!(read_json(&client.read(&format!("onetool://tool/{name}")).await.unwrap()), expected);
    }
    assert_eq!(client.complete("onetool://tool/{name}", "name", "de").await.unwrap(), ["demo.echo"]);
}

#[tokio::test]
async fn dsc_2_2_an_unknown_tool_is_not_found_with_similar_names() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), ECHO);
    for (era, code) in [(Era::Sessions, -32002), (Era::Stateless, -32602)] {
        let client = Client::connect_with(gateway.server(), era).await;
        let error = client.read("onetool://tool/demo.ecco").await.unwrap_err();
        assert_eq!(error.code, code);
        assert_eq!(
            error.message,
            "resource not found: onetool://tool/demo.ecco (tool not found: 'demo.ecco'; did you mean 'demo.echo'?); onetool://tools lists all tools"
        );
    }
}

async fn prompt(name: &str, arguments: Value) -> String {
    let folder = TempDir::new().unwrap();
    let client = Client::connect(gateway(folder.path(), "").server()).await;
    let got = client.prompt(name, arguments).await.unwrap();
    assert_eq!(got["messages"].as_array().unwrap().len(), 1);
    assert_eq!(got["messages"][0]["role"], "user");
    got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn dsc_3_1_batch_search_calls_the_search_for_each_topic() {
    assert_snapshot!(prompt("batch_search", json!({"topics": r#"["AI","ML"]"#, "count": "5"})).await, @r#"
    __onetool__run
    ```python
    results = {}
    for topic in ["AI", "ML"]:
        results[topic] = brave_web_search(query=topic, count=5)
    results
    ```
    "#);
}

#[tokio::test]
async fn dsc_3_1_a_topic_cannot_break_out_of_its_literal() {
    let topic = "x\"]:\n    import os\n```\u{2028}\\";
    assert_snapshot!(prompt("batch_search", json!({"topics": json!([topic]).to_string()})).await, @r#"
    __onetool__run
    ```python
    results = {}
    for topic in ["x\"]:\n    import os\n\x60\x60\x60\U00002028\\"]:
        results[topic] = brave_web_search(query=topic, count=5)
    results
    ```
    "#);
}

#[tokio::test]
async fn dsc_3_2_batch_search_without_topics_reports_them_as_missing() {
    let folder = TempDir::new().unwrap();
    let client = Client::connect(gateway(folder.path(), "").server()).await;
    let error = client.prompt("batch_search", json!({"count": "5"})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "missing required argument: topics"));
}

#[tokio::test]
async fn dsc_4_1_transform_data_fetches_each_page_under_the_instruction() {
    let arguments =
        json!({"urls": "https://a.example/x, https://b.example", "instruction": "Compare\nimport os ```"});
    assert_snapshot!(prompt("transform_data", arguments).await, @r#"
    __onetool__run
    ```python
    # Instruction:
    # Compare
    # import os '''
    pages = {}
    for url in ["https://a.example/x", "https://b.example"]:
        pages[url] = web_fetch(url=url)
    pages
    ```
    "#);
}

#[tokio::test]
async fn dsc_4_2_transform_data_reports_missing_arguments() {
    let folder = TempDir::new().unwrap();
    let client = Client::connect(gateway(folder.path(), "").server()).await;
    let message = async |arguments| client.prompt("transform_data", arguments).await.unwrap_err().message;
    assert_eq!(message(json!({})).await, "missing required arguments: urls, instruction");
    assert_eq!(message(json!({"urls": "https://a"})).await, "missing required argument: instruction");
}

#[tokio::test]
async fn the_gateway_declares_everything_it_has() {
    let folder = TempDir::new().unwrap();
    let response = RawClient::connect(gateway(folder.path(), "").server()).initialize().await;
    let capabilities = response["result"]["capabilities"].as_object().unwrap();
    for kind in ["tools", "resources", "prompts", "logging", "completions"] {
        assert!(capabilities.contains_key(kind), "{kind}");
    }
}
