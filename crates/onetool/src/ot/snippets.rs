//! `ot.snippets`: lists snippets.

use super::listing::Listing;
use super::{InfoLevel, OtContext, Output};
use crate::render::{names, nothing, snippet_document};

pub(super) const DESCRIPTION: &str =
    "List snippets, which run as $name key=value; info=\"full\" adds parameters, code and an example.";

#[tracing::instrument(level = "debug", name = "ot.snippets", skip_all)]
pub(super) fn snippets(context: &OtContext, args: &Listing) -> Output {
    let matches = args.matcher();
    let snippets = context.snippets.iter().filter(|it| matches(&[&it.name, &it.description]));
    let text = match args.info {
        InfoLevel::List => return Output::list(snippets.map(|it| it.name.as_str())),
        InfoLevel::Min => names(snippets.map(|it| (it.name.as_str(), it.description.as_str())), ": "),
        InfoLevel::Full => snippets.map(snippet_document).collect::<Vec<_>>().join("\n\n---\n"),
    };
    Output::Text(if text.is_empty() { nothing("snippets", &args.pattern) } else { text })
}
