//! `ot.config`: shows the configured aliases, snippets and servers.

use serde_json::{Map, Value, json};

use super::{OtContext, Output};

pub(super) const DESCRIPTION: &str = "Show the configured aliases, snippets and servers.";

#[tracing::instrument(level = "debug", name = "ot.config", skip_all)]
pub(super) fn config(context: &OtContext) -> Output {
    let aliases: Map<String, Value> =
        context.aliases.iter().map(|(name, alias)| (name.to_owned(), alias.target.as_str().into())).collect();
    let configured = context.snippets.iter().filter(|it| !it.is_shipped);
    let snippets: Map<String, Value> =
        configured.map(|it| (it.name.clone(), json!({"description": it.description}))).collect();
    let servers: Vec<&str> = context.servers.iter().map(|server| server.name.as_str()).collect();
    Output::Data(json!({"aliases": aliases, "snippets": snippets, "servers": servers}))
}
