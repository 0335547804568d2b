//! `ot.packs`: lists packs.

use serde_json::json;

use super::listing::{self, Listing};
use super::{InfoLevel, OtContext, Output};
use crate::render::{nothing, pack_listing};

pub(super) const DESCRIPTION: &str =
    "List packs of tools; info=\"full\" adds instructions and the tools of each.";

#[tracing::instrument(level = "debug", name = "ot.packs", skip_all)]
pub(super) fn packs(context: &OtContext, args: &Listing) -> Output {
    let matches = args.matcher();
    let packs = listing::packs(&context.catalog);
    let packs = packs.iter().filter(|(name, _)| matches(&[name]));
    match args.info {
        InfoLevel::List => Output::list(packs.map(|(name, _)| *name)),
        InfoLevel::Min => Output::list(packs.map(|(name, tools)| {
            json!({"name": name, "source": listing::pack_source(tools), "tool_count": tools.len()})
        })),
        InfoLevel::Full => {
            let card = |(name, tools): (&&str, &Vec<_>)| {
                pack_listing(&listing::pack_card(context, name, tools, InfoLevel::Min))
            };
            let cards: Vec<String> = packs.map(card).collect();
            Output::Text(if cards.is_empty() { nothing("packs", &args.pattern) } else { cards.join("\n\n") })
        }
    }
}
