//! URLs of the documentation pages of packs.

/// Packs whose page has another name than the pack.
const SLUGS: [(&str, &str); 6] = [
    ("brave", "brave-search"),
    ("code", "code-search"),
    ("db", "database"),
    ("ground", "grounding-search"),
    ("llm", "transform"),
    ("web", "web-fetch"),
];

/// Returns the URL of a pack's documentation page.
pub(crate) fn doc_url(base: &str, pack: &str) -> String {
    let slug = SLUGS.iter().find(|(name, _)| *name == pack).map_or(pack, |(_, slug)| slug);
    let slug: String = url::form_urlencoded::byte_serialize(slug.as_bytes()).collect();
    // Form encoding writes a space as `+`, which has no special meaning in a path.
    format!("{}/reference/tools/{}/", base.trim_end_matches('/'), slug.replace('+', "%20"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DocsConfig;

    #[test]
    fn ot_12_11_a_page_is_named_after_its_slug_or_its_pack() {
        let base = DocsConfig::default().base_url;
        for (pack, slug) in [
            ("brave", "brave-search"),
            ("code", "code-search"),
            ("db", "database"),
            ("ground", "grounding-search"),
            ("llm", "transform"),
            ("web", "web-fetch"),
            ("excel", "excel"),
            ("a/b", "a%2Fb"),
        ] {
            let url = doc_url(&base, pack);
            assert_eq!(url, format!("https://onetool.beycom.online/reference/tools/{slug}/"));
        }
        assert_eq!(doc_url("http://docs.local/x/", "web"), "http://docs.local/x/reference/tools/web-fetch/");
    }
}
