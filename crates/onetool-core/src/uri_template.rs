//! URI templates: `{name}` matches one path segment, `{+name}` several.

use std::collections::BTreeMap;

/// A URI with variables, such as `onetool://tool/{name}`.
///
/// ```
/// use onetool_core::UriTemplate;
///
/// let template = UriTemplate::new("onetool://tool/{name}");
/// let values = template.matches("onetool://tool/brave.search").unwrap();
/// assert_eq!(values["name"], "brave.search");
/// assert!(template.matches("onetool://tool/a/b").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, crosses_slashes: bool },
}

impl UriTemplate {
    /// Parses a template. An unclosed brace is literal text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, (variable, after))) =
            rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
        {
            if !before.is_empty() {
                parts.push(Part::Literal(before.to_owned()));
            }
            let crosses_slashes = variable.starts_with('+') || variable.ends_with('*');
            let name = variable.trim_start_matches('+').trim_end_matches('*').to_owned();
            parts.push(Part::Variable { name, crosses_slashes });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Self { text, parts }
    }

    /// Returns the text of the template.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the template has variables; without any it is an ordinary URI.
    pub fn has_variables(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Variable { .. }))
    }

    /// Returns the names of the variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Returns the percent-decoded values of the variables, if `uri` matches the template. A value ends at the first
    /// occurrence of the literal text after its variable.
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        let mut uri = uri;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => uri = uri.strip_prefix(literal.as_str())?,
                Part::Variable { name, crosses_slashes } => {
                    let end = match self.parts.get(index + 1) {
                        Some(Part::Literal(literal)) => uri.find(literal.as_str())?,
                        _ => uri.len(),
                    };
                    let (value, rest) = uri.split_at(end);
                    if value.is_empty() || (!crosses_slashes && value.contains('/')) {
                        return None;
                    }
                    values.insert(name.clone(), percent_decode(value));
                    uri = rest;
                }
            }
        }
        uri.is_empty().then_some(values)
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let decoded = (byte == b'%')
            .then(|| tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_matched_and_decoded() {
        let template = UriTemplate::new("test://{kind}/{id}/data");
        let values = template.matches("test://a%20b/7/data").unwrap();
        assert_eq!((values["kind"].as_str(), values["id"].as_str()), ("a b", "7"));
        for other in ["test://a/7", "test://a/7/data/x", "test:///7/data", "other"] {
            assert!(template.matches(other).is_none(), "{other}");
        }
        assert_eq!(UriTemplate::new("f:///{+path}").matches("f:///a/b").unwrap()["path"], "a/b");
    }

    #[test]
    fn h12_a_template_with_very_many_variables_does_not_overflow_the_stack() {
        let count = 200_000;
        let template = UriTemplate::new("{a}-".repeat(count));
        assert_eq!(template.matches(&"x-".repeat(count)).unwrap()["a"], "x");
    }

    #[test]
    fn malformed_templates_are_handled() {
        assert!(!UriTemplate::new("a{b").has_variables());
        assert!(UriTemplate::new("{a}{b}").matches("xy").is_none());
        assert_eq!(UriTemplate::new("{a}").matches("%zz%4").unwrap()["a"], "%zz%4");
    }
}
