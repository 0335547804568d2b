//! Snippets as documents: the definition, followed by an example call and the code it expands to.

use std::fmt::Write as _;

use serde_json::Value;

use onetool_run::shortcuts::{Snippet, SnippetParameter};
use onetool_run::yaml::{block_entry, double_quoted, to_line, to_text};

/// Writes a snippet as a YAML document, followed by an example call and the code it expands to.
pub(crate) fn snippet_document(snippet: &Snippet) -> String {
    let mut text = block_entry("name", &snippet.name);
    text.push_str(&block_entry("description", &snippet.description));
    if snippet.params.is_empty() {
        text.push_str("params: {}\n");
    } else {
        text.push_str("params:\n");
        for (name, param) in &snippet.params {
            let name = to_text(&Value::from(name.as_str()));
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {name}: {}", param_line(param));
        }
    }
    // Trailing blank lines carry no information, and even a single line is written as a block.
    text.push_str(&block_entry("body", &format!("{}\n", snippet.body.trim_end())));
    let (call, code) = snippet.example();
    let code = code.unwrap_or_else(|error| format!("# {error}"));
    let _ = write!(text, "\n# Example with defaults:\n# {call}\n# Expands to:\n{}", code.trim_end());
    text
}

fn param_line(param: &SnippetParameter) -> String {
    let mut fields: Vec<String> = param.kind.iter().map(|kind| format!("type: {kind}")).collect();
    if let Some(default) = &param.default {
        fields.push(format!("default: {}", to_line(default)));
    } else if !param.is_required() {
        fields.push("required: false".into());
    }
    if let Some(description) = &param.description {
        fields.push(format!("description: {}", double_quoted(description)));
    }
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
pub(crate) mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// The snippet from the requirements.
    pub(crate) fn brv_research() -> Snippet {
        let mut topic = SnippetParameter::default();
        topic.description = Some("Topic to research".into());
        topic.example = Some("Python".into());
        let mut count = SnippetParameter::default();
        count.default = Some(5.into());
        count.description = Some("Number of sources".into());
        Snippet {
            name: "brv_research".into(),
            description: "Search web and extract structured findings".into(),
            params: [("topic".into(), topic), ("count".into(), count)].into(),
            body: "results = brave.search(query=\"{{ topic }}\", count={{ count }})\nllm.transform(input=results, prompt=\"Extract key findings\")\n".into(),
            is_shipped: false,
        }
    }

    #[test]
    fn ot_11_6_the_document_has_its_layout() {
        assert_snapshot!(snippet_document(&brv_research()), @r#"
        name: brv_research
        description: Search web and extract structured findings
        params:
          topic: {description: "Topic to research"}
          count: {default: 5, description: "Number of sources"}
        body: |
          results = brave.search(query="{{ topic }}", count={{ count }})
          llm.transform(input=results, prompt="Extract key findings")

        # Example with defaults:
        # $brv_research topic=Python
        # Expands to:
        results = brave.search(query="Python", count=5)
        llm.transform(input=results, prompt="Extract key findings")
        "#);
    }

    #[test]
    fn ot_11_6_unusual_values_still_make_a_document() {
        let mut snippet = brv_research();
        snippet.description = "Several\nlines: yes".into();
        snippet.body = "f({{ topic.x.y }})".into();
        snippet.params.shift_remove("count");
        snippet.params["topic"].description = Some("a \"quoted\"\ntext".into());
        assert_snapshot!(snippet_document(&snippet), @r#"
        name: brv_research
        description: |-
          Several
          lines: yes
        params:
          topic: {description: "a \"quoted\"\ntext"}
        body: |
          f({{ topic.x.y }})

        # Example with defaults:
        # $brv_research topic=Python
        # Expands to:
        # cannot expand snippet '$brv_research': undefined value (line 1)
        "#);
    }
}
