//! Snippets that ship with onetool. A configured snippet of the same name replaces them.

use serde_json::Value;

use super::Snippet;
use super::options::SnippetParameter;
use super::snippet_type::SnippetType;

/// Returns the snippets whose packs are all available.
pub fn shipped(has_pack: impl Fn(&str) -> bool) -> Vec<Snippet> {
    let has = |packs: &[&str]| packs.iter().all(|pack| has_pack(pack));
    let all = [
        has(&["brave", "llm"]).then(brv_research),
        has(&["brave", "web", "llm"]).then(web_research),
        has(&["package"]).then(pkg_latest),
    ];
    all.into_iter().flatten().collect()
}

fn brv_research() -> Snippet {
    snippet(
        "brv_research",
        "Search web and extract structured findings",
        [topic(), count(5, "Number of sources")],
        "results = brave.search(query=\"{{ topic }}\", count={{ count }})\n\
         llm.transform(input=results, prompt=\"Extract key findings\")\n",
    )
}

fn web_research() -> Snippet {
    snippet(
        "web_research",
        "Search the web, read the pages found, and summarize what they say about a topic",
        [topic(), count(3, "Number of pages to read")],
        "found = brave.search(query=\"{{ topic }}\", count={{ count }})\n\
         urls = [result[\"url\"] for result in found[\"results\"]]\n\
         pages = web.fetch_batch(urls=urls, max_length=8000)[\"pages\"] if urls else []\n\
         llm.transform(input=pages, prompt=\"Summarize what these pages say about the topic below, and cite the URL of the \
         page for every point.\\n\\nTopic: {{ topic }}\")\n",
    )
}

fn pkg_latest() -> Snippet {
    let names = |name: &str, registry: &str| {
        let description = Some(format!("Packages on {registry}, separated by commas"));
        let param = SnippetParameter {
            kind: Some(SnippetType::String),
            default: Some("".into()),
            description,
            ..SnippetParameter::default()
        };
        (name.to_owned(), param)
    };
    snippet(
        "pkg_latest",
        "Look up the latest versions of packages on npm, PyPI and crates.io",
        [names("npm", "npm"), names("pypi", "PyPI"), names("crates", "crates.io")],
        "def names(text):\n    return [name.strip() for name in text.split(\",\") if name.strip()]\n\
         latest = {}\n\
         if names(\"{{ npm }}\"):\n    latest[\"npm\"] = package.npm(names=names(\"{{ npm }}\"))[\"packages\"]\n\
         if names(\"{{ pypi }}\"):\n    latest[\"pypi\"] = package.pypi(names=names(\"{{ pypi }}\"))[\"packages\"]\n\
         if names(\"{{ crates }}\"):\n    latest[\"crates\"] = package.crates(names=names(\"{{ crates }}\"))[\"packages\"]\n\
         latest\n",
    )
}

fn topic() -> (String, SnippetParameter) {
    let param = SnippetParameter {
        kind: Some(SnippetType::String),
        description: Some("Topic to research".into()),
        example: Some("Python".into()),
        required: Some(true),
        ..SnippetParameter::default()
    };
    ("topic".into(), param)
}

fn count(default: u32, description: &str) -> (String, SnippetParameter) {
    let param = SnippetParameter {
        kind: Some(SnippetType::Integer),
        default: Some(Value::from(default)),
        description: Some(description.into()),
        ..SnippetParameter::default()
    };
    ("count".into(), param)
}

fn snippet(
    name: &str,
    description: &str,
    params: impl IntoIterator<Item = (String, SnippetParameter)>,
    body: &str,
) -> Snippet {
    Snippet {
        name: name.into(),
        description: description.into(),
        params: params.into_iter().collect(),
        body: body.into(),
        is_shipped: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_snippet_requires_all_its_packs() {
        let names = |packs: &[&str]| {
            let shipped = shipped(|pack| packs.contains(&pack));
            shipped.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&["brave", "llm", "web", "package"]),
            ["brv_research", "web_research", "pkg_latest"]
        );
        assert_eq!(names(&["brave", "llm"]), ["brv_research"]);
        assert_eq!(names(&["brave", "web"]), [""; 0]);
    }

    #[test]
    fn every_shipped_snippet_can_be_expanded() {
        for snippet in shipped(|_| true) {
            let (call, code) = snippet.example();
            assert!(code.is_ok(), "{call}: {code:?}");
        }
    }
}
