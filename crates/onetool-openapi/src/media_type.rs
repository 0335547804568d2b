//! Media types as they appear in `Content-Type` and descriptions: with parameters, in any case.

/// Returns the type in lowercase, without its parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or(media_type).trim().to_ascii_lowercase()
}

/// Returns whether the type is JSON.
pub(crate) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json")
}

/// Returns whether the type is UTF-8 text.
pub(crate) fn is_utf8_text(media_type: &str) -> bool {
    let essence = essence(media_type);
    let media_type = media_type.to_ascii_lowercase();
    let charset = media_type.split_once("charset=").map(|(_, it)| it.trim_start_matches('"'));
    let is_utf8 = charset.is_none_or(|it| it.starts_with("utf-8") || it.starts_with("us-ascii"));
    let endings = ["json", "xml", "yaml", "jsonl", "javascript", "csv"];
    is_utf8 && (essence.starts_with("text/") || endings.iter().any(|ending| essence.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_are_ignored() {
        assert_eq!(essence(" Text/HTML ; charset=utf-8"), "text/html");
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert!(is_json(json), "{json}");
        }
        assert!(!is_json("application/jsonl") && !is_json(""));
    }

    #[test]
    fn o6_only_utf_8_text_can_be_stored_in_chunks() {
        for text in [
            "application/json",
            "text/plain; charset=UTF-8",
            "application/x-ndjson",
            "text/csv; charset=\"utf-8\"",
        ] {
            assert!(is_utf8_text(text), "{text}");
        }
        for other in ["image/png", "application/octet-stream", "text/html; charset=iso-8859-1", ""] {
            assert!(!is_utf8_text(other), "{other}");
        }
    }
}
