//! Removes an upstream's secrets from logs and error messages.

use crate::config::Transport;

/// Shorter values are ordinary words, and redacting them would reveal what they are.
const SECRET_MIN: usize = 6;

/// Maximum length of an error message: an upstream may put a whole page into it.
const MESSAGE_MAX: usize = 600;

/// The values to redact: those of `env`, of the headers, and the secrets in the URL.
#[derive(Default)]
pub(crate) struct Scrubber {
    secrets: Vec<String>,
}

impl Scrubber {
    pub(crate) fn from_transport(transport: &Transport) -> Self {
        let mut secrets: Vec<String> = match transport {
            Transport::Stdio { env, .. } => env.values().cloned().collect(),
            Transport::Http { url, headers } => {
                // "Bearer abc" is a secret, and so is "abc" alone.
                let parts =
                    headers.values().flat_map(|value| [value.as_str()].into_iter().chain(value.split(' ')));
                let query = url.query_pairs().map(|(_, value)| value.into_owned());
                parts.map(str::to_owned).chain(query).chain(url.password().map(str::to_owned)).collect()
            }
        };
        secrets.retain(|secret| secret.chars().count() >= SECRET_MIN);
        // The longest first, so that no part of a secret remains if another one is contained in it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets }
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[redacted]"))
    }

    /// Prepares an error message: without secrets, on one line, and of limited length.
    pub(crate) fn clean(&self, message: &str) -> String {
        let text = self.scrub(message).split_whitespace().collect::<Vec<_>>().join(" ");
        truncate(&text, MESSAGE_MAX).to_owned()
    }
}

/// Truncates a text to at most `max` bytes, at a character boundary.
pub(crate) fn truncate(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_values_of_env_and_headers_are_hidden_the_longest_first() {
        let env = [("A", "secret"), ("B", "secret-longer"), ("C", "short")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let stdio = Transport::Stdio { command: "x".into(), args: vec![], env, directory: None };
        let text = Scrubber::from_transport(&stdio).scrub("secret-longer secret short");
        assert_eq!(text, "[redacted] [redacted] short");
        let headers = [("Authorization".to_owned(), "Bearer abcdefgh".to_owned())].into();
        let http = Transport::Http { url: "https://u:passwd@h/?k=queryvalue".parse().unwrap(), headers };
        let text = Scrubber::from_transport(&http).scrub("Bearer abcdefgh, abcdefgh, passwd, queryvalue");
        assert_eq!(text, "[redacted], [redacted], [redacted], [redacted]");
        assert_eq!(truncate("aé", 2), "a");
    }
}
