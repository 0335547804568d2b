//! `ot.snippets`: code under a name.

use super::listing::Listing;
use super::{Answer, InfoLevel, OtContext};
use crate::render::{names, nothing, snippet_document};

pub(super) const DESCRIPTION: &str =
    "List snippets, run as $name key=value; info=\"full\" adds parameters, the code and an example.";

#[tracing::instrument(level = "debug", name = "ot.snippets", skip_all)]
pub(super) fn snippets(context: &OtContext, args: &Listing) -> Answer {
    let matches = args.matcher();
    let snippets = context.snippets.iter().filter(|it| matches(&[&it.name, &it.description]));
    let text = match args.info {
        InfoLevel::List => return Answer::list(snippets.map(|it| it.name.as_str())),
        InfoLevel::Min => names(snippets.map(|it| (it.name.as_str(), it.description.as_str())), ": "),
        InfoLevel::Full => snippets.map(snippet_document).collect::<Vec<_>>().join("\n\n---\n"),
    };
    Answer::Text(if text.is_empty() { nothing("snippets", &args.pattern) } else { text })
}
