//! URI templates: `{name}` stands for one path segment, `{+name}` for the rest.

use std::collections::BTreeMap;

/// A URI with named holes, such as `onetool://tool/{name}`.
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
    Hole { name: String, crosses_slashes: bool },
}

impl UriTemplate {
    /// Reads a template. A brace that is never closed stands for itself.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, (hole, after))) =
            rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
        {
            if !before.is_empty() {
                parts.push(Part::Literal(before.to_owned()));
            }
            let crosses_slashes = hole.starts_with('+') || hole.ends_with('*');
            let name = hole.trim_start_matches('+').trim_end_matches('*').to_owned();
            parts.push(Part::Hole { name, crosses_slashes });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Self { text, parts }
    }

    /// Returns the template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether there is a hole in it; without one it is an ordinary URI.
    pub fn has_holes(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Hole { .. }))
    }

    /// Returns the names of the holes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Returns what stands in the holes, percent-decoded, if `uri` fits the template. A hole ends where the literal
    /// after it first begins.
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        let mut uri = uri;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => uri = uri.strip_prefix(literal.as_str())?,
                Part::Hole { name, crosses_slashes } => {
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
    fn holes_are_filled_and_decoded() {
        let template = UriTemplate::new("test://{kind}/{id}/data");
        let values = template.matches("test://a%20b/7/data").unwrap();
        assert_eq!((values["kind"].as_str(), values["id"].as_str()), ("a b", "7"));
        for other in ["test://a/7", "test://a/7/data/x", "test:///7/data", "other"] {
            assert!(template.matches(other).is_none(), "{other}");
        }
        assert_eq!(UriTemplate::new("f:///{+path}").matches("f:///a/b").unwrap()["path"], "a/b");
    }

    #[test]
    fn h12_a_template_with_very_many_holes_does_not_use_up_the_stack() {
        let count = 200_000;
        let template = UriTemplate::new("{a}-".repeat(count));
        assert_eq!(template.matches(&"x-".repeat(count)).unwrap()["a"], "x");
    }

    #[test]
    fn odd_templates_do_no_harm() {
        assert!(!UriTemplate::new("a{b").has_holes());
        assert!(UriTemplate::new("{a}{b}").matches("xy").is_none());
        assert_eq!(UriTemplate::new("{a}").matches("%zz%4").unwrap()["a"], "%zz%4");
    }
}
