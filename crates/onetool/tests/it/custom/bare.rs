//! The cases on a server that has nothing but what they register.

#![expect(clippy::duplicate_mod, reason = "the same cases hold on a server with an API")]

#[path = "prompts.rs"]
mod prompts;
#[path = "resources.rs"]
mod resources;
#[path = "tools.rs"]
mod tools;

use onetool::{Server, ServerBuilder};

/// Begins a server that has nothing yet.
fn builder() -> ServerBuilder {
    Server::builder()
}

/// The tools that are there before a case registers its own.
const THERE: [&str; 0] = [];
