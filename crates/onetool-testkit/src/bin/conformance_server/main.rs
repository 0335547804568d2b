//! The fixtures of MCP's conformance suite, built with onetool's public API alone.

fn main() {}
