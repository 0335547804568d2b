//! Takes an upstream's secrets out of what is logged or told.

use crate::Transport;

/// Shorter values are words that occur everywhere, and hiding them would say what they are.
const SECRET_MIN: usize = 6;

/// Longest message that is told; an upstream may put a whole page into it.
const TOLD: usize = 600;

/// The values that must not be seen: those of `env` and of the headers.
#[derive(Default)]
pub(crate) struct Scrubber {
    values: Vec<String>,
}

impl Scrubber {
    pub(crate) fn of(transport: &Transport) -> Self {
        let mut values: Vec<String> = match transport {
            Transport::Stdio { env, .. } => env.values().cloned().collect(),
            Transport::Http { url, headers } => {
                // "Bearer abc" is a secret, and so is "abc" alone.
                let parts =
                    headers.values().flat_map(|value| [value.as_str()].into_iter().chain(value.split(' ')));
                let query = url.query_pairs().map(|(_, value)| value.into_owned());
                parts.map(str::to_owned).chain(query).chain(url.password().map(str::to_owned)).collect()
            }
        };
        values.retain(|value| value.chars().count() >= SECRET_MIN);
        // The longest first, so that no piece of a secret is left over where one holds another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { values }
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[redacted]"))
    }

    /// Makes a message fit to be told: without secrets, on one line, and no longer than somebody reads.
    pub(crate) fn tidy(&self, message: &str) -> String {
        let text = self.scrub(message).split_whitespace().collect::<Vec<_>>().join(" ");
        cut(&text, TOLD).to_owned()
    }
}

/// Cuts a text to at most `max` bytes, at a character.
pub(crate) fn cut(text: &str, max: usize) -> &str {
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
        assert_eq!(Scrubber::of(&stdio).scrub("secret-longer secret short"), "[redacted] [redacted] short");
        let headers = [("Authorization".to_owned(), "Bearer abcdefgh".to_owned())].into();
        let http = Transport::Http { url: "https://u:passwd@h/?k=queryvalue".parse().unwrap(), headers };
        let text = Scrubber::of(&http).scrub("Bearer abcdefgh, abcdefgh, passwd, queryvalue");
        assert_eq!(text, "[redacted], [redacted], [redacted], [redacted]");
        assert_eq!(cut("aé", 2), "a");
    }
}
