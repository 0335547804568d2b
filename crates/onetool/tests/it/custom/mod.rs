//! CUS: tools, resources and prompts from code, on a bare server and again on one that serves an API.

mod bare;
mod with_api;
