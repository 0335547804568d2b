//! A gateway without a configuration: real tools of many shapes behind the page, for trying it and for its tests.
//!
//! `cargo run -p onetool-web --example demo -- --port 7500` prints the address of the page. Options: `--port N`,
//! `--token T`, `--title T`, `--many N` (adds N generated tools), `--no-execute`, `--plain` (the library's page
//! instead of the gateway's), `--fresh` (no past calls). Routes under `/demo` make things happen for the tests.

#![expect(clippy::print_stdout, reason = "the address is for whoever started the program")]

mod console;
mod gateway;
mod search;
mod state;
mod tools;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use onetool_core::{Caller, ToolError, ToolOutput};
use onetool_web::{WebOptions, gateway_router, router};
use serde_json::{Value, json};

use gateway::Demo;

#[derive(Default)]
struct Arguments {
    port: u16,
    token: Option<String>,
    title: Option<String>,
    many: usize,
    no_execute: bool,
    plain: bool,
    fresh: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = read_arguments()?;
    let demo = Arc::new(Demo::new(arguments.many, arguments.token.clone(), arguments.fresh));
    let app = app(&demo, &arguments);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let fragment = arguments.token.map(|token| format!("#token={token}")).unwrap_or_default();
    println!("http://{}/{fragment}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}

fn read_arguments() -> Result<Arguments, Box<dyn std::error::Error>> {
    let mut arguments = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--port" => arguments.port = value()?.parse()?,
            "--token" => arguments.token = Some(value()?),
            "--title" => arguments.title = Some(value()?),
            "--many" => arguments.many = value()?.parse()?,
            "--no-execute" => arguments.no_execute = true,
            "--plain" => arguments.plain = true,
            "--fresh" => arguments.fresh = true,
            _ => return Err(format!("unknown option {word}; see the head of examples/demo/main.rs").into()),
        }
    }
    Ok(arguments)
}

fn app(demo: &Arc<Demo>, arguments: &Arguments) -> Router {
    let (access, calls) = (demo.clone(), demo.clone());
    let options = WebOptions::default()
        .title(arguments.title.as_deref().unwrap_or("onetool"))
        .allow_execute(!arguments.no_execute)
        .execute_hint(
            "Execution is off. Set http.allow_execute: true in onetool.yaml to run tools from here.",
        )
        .access(move |request| access.admits(&request.headers).then(Caller::default))
        .on_call(move |call| {
            let demo = calls.clone();
            async move { demo.call("page", call.name.as_str(), call.args).await }
        });
    let web = || {
        if arguments.plain {
            let demo = demo.clone();
            router(onetool_core::from_fn(move || Ok(demo.listed())), options.clone())
        } else {
            gateway_router(demo.clone(), options.clone())
        }
    };
    let control = Router::new()
        .route("/demo/state", get(async |State(demo): State<Arc<Demo>>| Json(demo.counts())))
        .route("/demo/servers/{name}/{state}", post(set_server))
        .route("/demo/token/{token}", post(set_token))
        .route("/demo/results/{handle}/expire", post(expire))
        .route("/mcp", post(mcp))
        .with_state(demo.clone());
    control.merge(web()).nest_service("/ui", web())
}

async fn set_server(
    State(demo): State<Arc<Demo>>,
    Path((name, state)): Path<(String, String)>,
) -> Json<Value> {
    Json(json!({"ok": demo.set_server(&name, &state)}))
}

async fn set_token(State(demo): State<Arc<Demo>>, Path(token): Path<String>) -> Json<Value> {
    demo.set_token(token);
    Json(json!({"ok": true}))
}

async fn expire(State(demo): State<Arc<Demo>>, Path(handle): Path<String>) -> Json<Value> {
    Json(json!({"ok": demo.expire(&handle)}))
}

/// As much of MCP as it takes to paste a `tools/call` request that the page made.
async fn mcp(State(demo): State<Arc<Demo>>, Json(request): Json<Value>) -> Json<Value> {
    let name = request["params"]["name"].as_str().unwrap_or_default().to_owned();
    let args = request["params"]["arguments"].as_object().cloned().unwrap_or_default();
    let output: Result<ToolOutput, ToolError> = match request["method"].as_str() {
        Some("tools/call") => demo.call("agent", &name, args).await,
        _ => Err(ToolError::failed("only tools/call")),
    };
    let id = request["id"].clone();
    Json(match output {
        Ok(output) => json!({"jsonrpc": "2.0", "id": id, "result": output}),
        Err(error) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": error.to_string()}})
        }
    })
}
