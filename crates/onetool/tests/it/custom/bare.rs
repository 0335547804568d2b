//! The cases on a server with only what they register.

#![expect(clippy::duplicate_mod, reason = "the same cases run on a server with an API")]

#[path = "prompts.rs"]
mod prompts;
#[path = "resources.rs"]
mod resources;
#[path = "tools.rs"]
mod tools;

use onetool::{Server, ServerBuilder};

/// Starts building an empty server.
fn builder() -> ServerBuilder {
    Server::builder()
}

/// The tools that exist before a case registers its own.
const EXISTING: [&str; 0] = [];
