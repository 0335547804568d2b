//! Decodes pages: finds out whether a page is text, and its encoding.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Number of bytes in which to look for a `<meta charset>`, like browsers.
const PRESCAN: usize = 1024;

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Pdf,
    Other,
}

/// Returns the kind of a page, from its MIME type or, if that is not specific, from its first bytes.
pub(super) fn kind(content_type: Option<&str>, body: &[u8]) -> Kind {
    let mime_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let mime_type = mime_type.to_ascii_lowercase();
    if body.starts_with(b"%PDF-") || mime_type == "application/pdf" {
        return Kind::Pdf;
    }
    match mime_type.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "" | "application/octet-stream" | "unknown/unknown" => sniff(body),
        it if it.starts_with("text/") || it.ends_with("+json") || it.ends_with("+xml") => Kind::Text,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/x-ndjson" => Kind::Text,
        _ => Kind::Other,
    }
}

fn sniff(body: &[u8]) -> Kind {
    let start = &body[..body.len().min(PRESCAN)];
    let is_wide = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    if start.contains(&0) && !is_wide {
        return Kind::Other;
    }
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let is_html = ["<!doctype html", "<html", "<head", "<body"].iter().any(|it| start.contains(it));
    if is_html { Kind::Html } else { Kind::Text }
}

/// Decodes a page. Its encoding comes from, in this order: a byte order mark, the header, the page, its bytes.
pub(super) fn decode(content_type: Option<&str>, kind: Kind, body: &[u8]) -> String {
    let declared = content_type.and_then(charset).and_then(encoding);
    let declared = declared.or_else(|| if kind == Kind::Html { prescan(body) } else { None });
    let encoding =
        declared.unwrap_or_else(|| if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 });
    // A byte order mark overrides `encoding` here.
    encoding.decode(body).0.into_owned()
}

/// Finds the value of `charset=` in a header or a tag.
fn charset(text: &str) -> Option<&str> {
    let at = text.to_ascii_lowercase().find("charset=")? + "charset=".len();
    let rest = text[at..].trim_start_matches(['"', '\'', ' ']);
    let end = rest.find(['"', '\'', ';', ' ', '>', '/']).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn encoding(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes())
}

fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    // Only ASCII matters here, and every web encoding except UTF-16 encodes it the same way.
    let start = String::from_utf8_lossy(&body[..body.len().min(PRESCAN)]).into_owned();
    let lower = start.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find("<meta") {
        let tag_start = from + at;
        let tag_end = lower[tag_start..].find('>').map_or(lower.len(), |end| tag_start + end + 1);
        // Lowercasing keeps the length only for ASCII, and a tag is ASCII.
        if let Some(found) = lower.get(tag_start..tag_end).and_then(charset).and_then(encoding) {
            return Some(found);
        }
        from = tag_end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_found_wherever_it_is_declared() {
        let decoded = |content_type, body: &[u8]| decode(content_type, kind(content_type, body), body);
        let html = Some("text/html");
        assert_eq!(decoded(Some("text/html; charset=ISO-8859-1"), b"caf\xe9"), "café");
        assert_eq!(decoded(Some("text/html; charset=\"windows-1251\""), b"\xcf\xf0"), "Пр");
        assert_eq!(decoded(html, b"<meta charset=\"shift_jis\">\x93\xfa"), "<meta charset=\"shift_jis\">日");
        let old = b"<META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xf0";
        assert!(decoded(html, old).ends_with('П'));
        assert_eq!(decoded(html, b"\xef\xbb\xbfcaf\xc3\xa9"), "café");
        assert_eq!(decoded(None, b"\xff\xfeh\0i\0"), "hi");
        assert_eq!(decoded(html, "naïve".as_bytes()), "naïve");
        assert_eq!(decoded(html, b"na\xefve"), "naïve", "text that is not UTF-8 is Windows-1252");
        assert_eq!(decoded(Some("text/plain; charset=nonsense"), b"x"), "x");
    }

    #[test]
    fn the_kind_comes_from_the_type_or_the_bytes() {
        assert_eq!(kind(Some("Text/HTML; charset=x"), b""), Kind::Html);
        assert_eq!(kind(Some("application/ld+json"), b""), Kind::Text);
        assert_eq!(kind(Some("application/pdf"), b""), Kind::Pdf);
        assert_eq!(kind(Some("text/html"), b"%PDF-1.7"), Kind::Pdf);
        assert_eq!(kind(Some("image/png"), b"x"), Kind::Other);
        assert_eq!(kind(None, b"<!DOCTYPE html><p>"), Kind::Html);
        assert_eq!(kind(None, b"plain words"), Kind::Text);
        assert_eq!(kind(Some("application/octet-stream"), b"\x7fELF\0"), Kind::Other);
    }
}
