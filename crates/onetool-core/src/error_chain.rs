//! Formats an error together with its sources.

use std::error::Error;

/// Joins the messages of an error and its sources with `": "`, outermost first.
///
/// Skips a source whose message the text already contains: some errors include their source in their own message.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Link {
        message: &'static str,
        source: Option<Box<Self>>,
    }

    fn chain(messages: &[&'static str]) -> String {
        let link =
            messages.iter().rev().fold(None, |source, message| Some(Box::new(Link { message, source })));
        error_chain(link.unwrap().as_ref())
    }

    #[test]
    fn sources_follow_the_error_outermost_first() {
        assert_eq!(chain(&["cannot connect"]), "cannot connect");
        assert_eq!(
            chain(&["cannot connect", "TLS failed", "expired"]),
            "cannot connect: TLS failed: expired"
        );
    }

    #[test]
    fn a_source_that_a_message_already_includes_is_skipped() {
        assert_eq!(
            chain(&["cannot connect: TLS failed", "TLS failed", "expired"]),
            "cannot connect: TLS failed: expired"
        );
        assert_eq!(chain(&["a: b", "b: c", "c"]), "a: b: b: c");
        assert_eq!(chain(&["refused", "refused", "refused"]), "refused");
        assert_eq!(chain(&["cannot connect", "", "refused"]), "cannot connect: refused");
    }
}
