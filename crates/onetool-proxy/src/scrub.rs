//! Removes an upstream's secrets from logs and error messages.

use onetool_core::Redactor;

use crate::config::Transport;

/// Maximum length of an error message: an upstream may put a whole page into it.
const MESSAGE_MAX: usize = 600;

/// Returns a redactor for the values of `env`, of the headers, and the secrets in the URL.
pub(crate) fn redactor(transport: &Transport) -> Redactor {
    match transport {
        Transport::Stdio { env, .. } => Redactor::new(env.values().cloned()),
        Transport::Http { url, headers } => {
            // "Bearer abc" is a secret, and so is "abc" alone.
            let parts =
                headers.values().flat_map(|value| [value.as_str()].into_iter().chain(value.split(' ')));
            let query = url.query_pairs().map(|(_, value)| value.into_owned());
            Redactor::new(parts.map(str::to_owned).chain(query).chain(url.password().map(str::to_owned)))
        }
    }
}

/// Prepares an error message: without secrets, on one line, and of limited length.
pub(crate) fn clean(redactor: &Redactor, message: &str) -> String {
    let text = redactor.scrub(message).split_whitespace().collect::<Vec<_>>().join(" ");
    truncate(&text, MESSAGE_MAX).to_owned()
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
        let stdio = redactor(&stdio);
        assert_eq!(stdio.scrub("secret-longer secret short"), "[redacted] [redacted] short");
        let headers = [("Authorization".to_owned(), "Bearer abcdefgh".to_owned())].into();
        let http = Transport::Http { url: "https://u:passwd@h/?k=queryvalue".parse().unwrap(), headers };
        let http = redactor(&http);
        assert_eq!(
            http.scrub("Bearer abcdefgh, abcdefgh, passwd, queryvalue"),
            "[redacted], [redacted], [redacted], [redacted]"
        );
        assert_eq!(truncate("aé", 2), "a");
    }
}
