//! Snippets: named code templates with parameters.

use indexmap::IndexMap;
use onetool_core::{JsonObject, abbreviate, similar_names};
use serde_json::Value;

use super::call::{SnippetArgument, SnippetCall};
use super::error::SnippetError;
use super::fill::fill;
use super::options::{SnippetOptions, SnippetParameter};
use super::snippet_type::SnippetType;

/// A named code template.
#[derive(Debug, Clone, PartialEq)]
pub struct Snippet {
    /// Its name, without the dollar sign.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters, in order.
    pub params: IndexMap<String, SnippetParameter>,
    /// Python code that contains `{{ parameter }}`.
    pub body: String,
    /// Whether it ships with onetool rather than being configured.
    pub is_shipped: bool,
}

impl Snippet {
    /// Expands the template with the arguments of a call.
    pub fn expand(&self, arguments: &IndexMap<String, SnippetArgument>) -> Result<String, SnippetError> {
        if let Some(unknown) = arguments.keys().find(|key| !self.params.contains_key(*key)) {
            let known: Vec<String> = self.params.keys().cloned().collect();
            let near = similar_names(unknown, known.iter().map(String::as_str));
            return Err(SnippetError::Parameter {
                name: self.name.clone(),
                parameter: abbreviate(unknown).into_owned(),
                near: near.into_iter().map(str::to_owned).collect(),
                known,
            });
        }
        let is_missing = |(name, param): &(&String, &SnippetParameter)| {
            param.is_required() && !arguments.contains_key(*name)
        };
        let missing: Vec<String> =
            self.params.iter().filter(is_missing).map(|(name, _)| name.clone()).collect();
        if !missing.is_empty() {
            let default = |(name, param): (&String, &SnippetParameter)| {
                param.default.as_ref().map(|default| format!("{name}={default}"))
            };
            let defaults = self.params.iter().filter_map(default).collect();
            return Err(SnippetError::Missing { name: self.name.clone(), missing, defaults });
        }
        let value = |(name, param): (&String, &SnippetParameter)| {
            let value = match (arguments.get(name), param.kind) {
                (Some(argument), Some(kind)) => {
                    argument.to_type(kind).ok_or_else(|| SnippetError::Value {
                        name: self.name.clone(),
                        parameter: name.clone(),
                        expected: kind.with_article(),
                        given: abbreviate(argument.text()).into_owned(),
                    })?
                }
                (Some(argument), None) => argument.to_value(param.default.as_ref()),
                (None, _) => param.default.clone().unwrap_or_default(),
            };
            Ok((name.clone(), value))
        };
        self.fill(&self.params.iter().map(value).collect::<Result<_, _>>()?)
    }

    /// Returns an example call, and the code that it expands to.
    pub fn example(&self) -> (String, Result<String, SnippetError>) {
        let mut call = format!("${}", self.name);
        let mut values = JsonObject::new();
        for (name, param) in &self.params {
            let sample = match (&param.default, param.is_required()) {
                (Some(default), false) => default.clone(),
                (None, false) => Value::Null,
                (_, true) => {
                    let kind = param.kind.unwrap_or(SnippetType::String);
                    let sample = param.example.clone().unwrap_or_else(|| kind.sample(name));
                    call = format!("{call} {name}={}", in_call(&sample));
                    sample
                }
            };
            values.insert(name.clone(), sample);
        }
        (call, self.fill(&values))
    }

    fn fill(&self, values: &JsonObject) -> Result<String, SnippetError> {
        let failed = |reason| SnippetError::Template { name: self.name.clone(), reason };
        fill(&self.body, values).map_err(failed)
    }
}

/// Returns a value as it is written in a call, on one line.
fn in_call(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let is_bare = !text.is_empty()
        && !text.contains(char::is_whitespace)
        && !text.starts_with(['"', '\''])
        && SnippetArgument::Bare(text.clone()).to_value(None) == *value;
    if is_bare {
        return text.clone();
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", line.replace('\\', "\\\\").replace('"', "\\\""))
}

/// All snippets by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snippets(IndexMap<String, Snippet>);

impl Snippets {
    /// Creates the snippets of a configuration, whose templates were checked when it was loaded.
    pub fn new(config: &IndexMap<String, SnippetOptions>) -> Self {
        let snippet = |(name, config): (&String, &SnippetOptions)| {
            let SnippetOptions { description, params, body, .. } = config.clone();
            (
                name.clone(),
                Snippet {
                    name: name.clone(),
                    description,
                    params,
                    body: body.into_string(),
                    is_shipped: false,
                },
            )
        };
        Self(config.iter().map(snippet).collect())
    }

    /// Adds snippets that ship with onetool, unless one of the same name is configured.
    #[must_use]
    pub fn with_shipped(mut self, shipped: Vec<Snippet>) -> Self {
        for snippet in shipped {
            self.0.entry(snippet.name.clone()).or_insert(snippet);
        }
        self
    }

    /// Returns a snippet by name.
    pub fn get(&self, name: &str) -> Option<&Snippet> {
        self.0.get(name)
    }

    /// Returns all snippets, in the order of the configuration.
    pub fn iter(&self) -> impl Iterator<Item = &Snippet> {
        self.0.values()
    }

    /// Returns the code that a call expands to.
    pub fn expand(&self, call: &SnippetCall) -> Result<String, SnippetError> {
        let Some(snippet) = self.get(&call.name) else {
            let known = self.0.keys().map(|name| format!("${name}")).collect();
            let near = similar_names(&call.name, self.0.keys().map(String::as_str));
            let near = near.into_iter().map(|name| format!("${name}")).collect();
            return Err(SnippetError::Unknown { name: abbreviate(&call.name).into(), near, known });
        };
        snippet.expand(&call.arguments)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the snippet that the requirements use.
    fn brv_research() -> Snippet {
        let topic = SnippetParameter {
            description: Some("Topic to research".into()),
            example: Some("Python".into()),
            required: Some(true),
            ..SnippetParameter::default()
        };
        let count = SnippetParameter {
            default: Some(5.into()),
            description: Some("Number of sources".into()),
            ..SnippetParameter::default()
        };
        Snippet {
            name: "brv_research".into(),
            description: "Search web and extract structured findings".into(),
            params: [("topic".into(), topic), ("count".into(), count)].into(),
            body: "results = brave.search(query=\"{{ topic }}\", count={{ count }})\nllm.transform(input=results, prompt=\"Extract key findings\")\n".into(),
            is_shipped: false,
        }
    }

    fn snippets() -> Snippets {
        Snippets([("brv_research".to_owned(), brv_research())].into())
    }

    fn expand(command: &str) -> Result<String, String> {
        let call = SnippetCall::parse(command).map_err(|error| error.to_string())?;
        snippets().expand(&call).map_err(|error| error.to_string())
    }

    #[test]
    fn run_4_1_a_snippet_expands_with_its_defaults() {
        let code = |topic: &str, count: &str| {
            format!(
                "results = brave.search(query=\"{topic}\", count={count})\nllm.transform(input=results, prompt=\"Extract key findings\")"
            )
        };
        assert_eq!(expand("$brv_research topic=Python"), Ok(code("Python", "5")));
        assert_eq!(expand("$brv_research topic=\"a \\\" b\" count=3"), Ok(code("a \\\" b", "3")));
        assert_eq!(
            expand("$brv_research\ntopic: Rust: \"the\" language\ncount: 7"),
            Ok(code("Rust: \\\"the\\\" language", "7"))
        );
        assert_eq!(expand("$brv_research topic=2024"), Ok(code("2024", "5")));
        assert_eq!(expand("$brv_research topic=x count='5); evil('"), Ok(code("x", "\"5); evil(\"")));
    }

    #[test]
    fn run_4_2_an_unknown_snippet_is_an_error_that_lists_the_known_ones() {
        assert_eq!(
            expand("$brv_reserch topic=x").unwrap_err(),
            "unknown snippet '$brv_reserch'; did you mean '$brv_research'? (snippets: $brv_research)"
        );
        let call = SnippetCall::parse("$x").unwrap();
        assert_eq!(
            Snippets::default().expand(&call).unwrap_err().to_string(),
            "unknown snippet '$x'; there are no snippets"
        );
    }

    #[test]
    fn run_4_2_a_missing_parameter_is_an_error_that_lists_the_optional_ones() {
        assert_eq!(
            expand("$brv_research count=3").unwrap_err(),
            "snippet '$brv_research' requires topic; optional: count=5"
        );
    }

    #[test]
    fn run_4_2_an_unknown_parameter_is_an_error_that_lists_the_known_ones() {
        assert_eq!(
            expand("$brv_research topc=x").unwrap_err(),
            "snippet '$brv_research' has no parameter 'topc'; did you mean 'topic'? (parameters: topic, count)"
        );
    }

    #[test]
    fn run_4_2_a_template_error_names_the_snippet() {
        let snippet = Snippet { body: "{{ topic.a.b }}".into(), ..brv_research() };
        let arguments = [("topic".to_owned(), SnippetArgument::Quoted("x".into()))].into();
        assert_eq!(
            snippet.expand(&arguments).unwrap_err().to_string(),
            "cannot expand snippet '$brv_research': undefined value (line 1)"
        );
    }

    #[test]
    fn ot_11_6_the_example_has_sample_values_for_required_parameters() {
        let mut snippet = brv_research();
        assert_eq!(snippet.example().0, "$brv_research topic=Python");
        snippet.params["topic"].example = None;
        assert_eq!(snippet.example().0, "$brv_research topic=topic");
        snippet.params["topic"].example = Some(json!("two \"words\"\n1"));
        assert_eq!(snippet.example().0, r#"$brv_research topic="two \"words\" 1""#);
        snippet.params["topic"].example = Some(json!("5"));
        assert_eq!(snippet.example().0, "$brv_research topic=\"5\"");
        snippet.params["topic"].example = Some(json!([1, "a b"]));
        assert_eq!(snippet.example().0, r#"$brv_research topic=[1,"a b"]"#);
    }
}
