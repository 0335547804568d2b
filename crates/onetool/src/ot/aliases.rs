//! `ot.aliases`: other names for tools.

use serde_json::json;

use super::listing::Listing;
use super::{Answer, InfoLevel, OtContext};
use crate::render::{names, nothing};

pub(super) const DESCRIPTION: &str = "List aliases, the short names for tools, with what they stand for.";

#[tracing::instrument(level = "debug", name = "ot.aliases", skip_all)]
pub(super) fn aliases(context: &OtContext, args: &Listing) -> Answer {
    let matches = args.matcher();
    let aliases = context.aliases.iter().filter(|(name, alias)| matches(&[name, &alias.target]));
    match args.info {
        InfoLevel::List => Answer::list(aliases.map(|(name, _)| name)),
        InfoLevel::Min => {
            let text = names(aliases.map(|(name, alias)| (name, alias.target.as_str())), " -> ");
            Answer::Text(if text.is_empty() { nothing("aliases", &args.pattern) } else { text })
        }
        InfoLevel::Full => {
            Answer::list(aliases.map(|(name, alias)| json!({"name": name, "target": alias.target})))
        }
    }
}
