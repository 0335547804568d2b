//! `ot.tools`: lists tools.

use onetool_core::quoted_signature;
use serde_json::{Value, json};

use super::listing::{self, Listing};
use super::{InfoLevel, OtContext, Output};
use crate::render::summary;
use onetool_server::catalog::Entry;

pub(super) const DESCRIPTION: &str = "List tools; info=\"full\" adds signatures, arguments and sources.";

#[tracing::instrument(level = "debug", name = "ot.tools", skip_all)]
pub(super) fn tools(context: &OtContext, args: &Listing) -> Output {
    let matches = args.matcher();
    let tools = listing::tools(&context.catalog).filter(|entry| matches(&[entry.name().as_str()]));
    match args.info {
        InfoLevel::List => Output::list(tools.map(|entry| entry.name().as_str())),
        InfoLevel::Min => Output::list(tools.map(|entry| {
            let description = summary(context.catalog.description(entry));
            json!({"name": entry.name().as_str(), "description": description})
        })),
        InfoLevel::Full => Output::list(tools.map(|entry| full(context, entry))),
    }
}

fn full(context: &OtContext, entry: &Entry) -> Value {
    let mut tool = json!({
        "name": entry.name().as_str(),
        "signature": quoted_signature(entry.name().as_str(), &entry.spec().input_schema.peek()),
        "description": context.catalog.description(entry),
        "source": entry.source().to_string(),
    });
    let args = listing::args(entry);
    if !args.is_empty() {
        tool["args"] = args.into();
    }
    if let Some(returns) = listing::returns(&context.catalog, entry) {
        tool["returns"] = returns.into();
    }
    if let Some(example) = context.catalog.docs(entry.name()).and_then(|docs| docs.examples.first()) {
        tool["example"] = example.as_str().into();
    }
    tool
}
