//! The bundled packs, each against a real file system, server or database.

mod brave;
mod db_postgres;
mod db_sqlite;
mod file;
mod file_confinement;
mod llm;
mod own_files;
mod package;
mod precedence;
mod ripgrep;
mod web;

use std::path::Path;

use axum::Router;
use tokio::net::TcpListener;

use onetool::{CallContext, Gateway, ToolOutput};
use serde_json::Value;

use crate::{gateway, object};

/// Calls a tool, which must succeed, and returns its data.
async fn call(gateway: &Gateway, name: &str, args: Value) -> Value {
    output(gateway, name, args).await.structured_content.unwrap_or_default()
}

/// Calls a tool, which must succeed, and returns its text.
async fn text(gateway: &Gateway, name: &str, args: Value) -> String {
    output(gateway, name, args).await.content[0].as_text().unwrap().to_owned()
}

async fn output(gateway: &Gateway, name: &str, args: Value) -> ToolOutput {
    let output = gateway.server().call(name, object(args), CallContext::detached()).await;
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    assert!(!output.is_error, "{output:?}");
    output
}

/// Calls a tool, which must fail, and returns its error message.
async fn failure(gateway: &Gateway, name: &str, args: Value) -> String {
    match gateway.server().call(name, object(args), CallContext::detached()).await {
        Ok(output) if output.is_error => output.content[0].as_text().unwrap().to_owned(),
        Ok(output) => panic!("{name} should fail: {output:?}"),
        Err(error) => error.to_string(),
    }
}

/// Serves on a free loopback port until the test ends, and returns the URL.
async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// A gateway with the file root `folder/root`.
fn with_root(folder: &Path) -> Gateway {
    std::fs::create_dir_all(folder.join("root")).unwrap();
    gateway(folder, "packs: {file: {roots: [root]}}\n")
}
