//! The same cases on a server made with `Server::builder().pack(api)`.

#![expect(clippy::duplicate_mod, reason = "the same cases run on a bare server")]

#[path = "prompts.rs"]
mod prompts;
#[path = "resources.rs"]
mod resources;
#[path = "tools.rs"]
mod tools;

use onetool::openapi::{Api, ApiOptions, Origin, load};
use onetool::{Server, ServerBuilder};

const PETS: &str = r#"{
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "https://pets.example.org"}],
    "paths": {
        "/pets": {"get": {"operationId": "listPets"}, "post": {"operationId": "addPet", "requestBody": {
            "content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}}},
        "/pets/{id}": {"get": {"operationId": "getPet", "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]}}
    }
}"#;

/// Starts building a server that already serves an API.
fn builder() -> ServerBuilder {
    // The cases run inside a runtime, which must not block on another one, so use a separate thread.
    let api = std::thread::spawn(|| tokio::runtime::Runtime::new().unwrap().block_on(pets())).join().unwrap();
    Server::builder().pack(api)
}

async fn pets() -> Api {
    let origin = Origin::Text { text: PETS.to_owned(), base: None };
    load(origin, ApiOptions::new("pets"), None).await.unwrap()
}

/// The tools that exist before a case registers its own.
const EXISTING: [&str; 3] = ["pets_list_pets", "pets_add_pet", "pets_get_pet"];
