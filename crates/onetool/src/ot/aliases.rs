//! `ot.aliases`: lists aliases.

use serde_json::json;

use super::listing::Listing;
use super::{InfoLevel, OtContext, Output};
use crate::render::{names, nothing};

pub(super) const DESCRIPTION: &str = "List aliases (short names for tools) and their targets.";

#[tracing::instrument(level = "debug", name = "ot.aliases", skip_all)]
pub(super) fn aliases(context: &OtContext, args: &Listing) -> Output {
    let matches = args.matcher();
    let aliases = context.aliases.iter().filter(|(name, alias)| matches(&[name, &alias.target]));
    match args.info {
        InfoLevel::List => Output::list(aliases.map(|(name, _)| name)),
        InfoLevel::Min => {
            let text = names(aliases.map(|(name, alias)| (name, alias.target.as_str())), " -> ");
            Output::Text(if text.is_empty() { nothing("aliases", &args.pattern) } else { text })
        }
        InfoLevel::Full => {
            Output::list(aliases.map(|(name, alias)| json!({"name": name, "target": alias.target})))
        }
    }
}
