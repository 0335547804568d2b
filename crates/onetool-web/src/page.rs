//! The page, rendered for each request, and its assets.

use std::sync::Arc;

use axum::Router;
use axum::extract::{OriginalUri, Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;

use crate::assets;

const TEMPLATE: &str = include_str!("../assets/index.html");

/// Options that are rendered into the page. The page contains no data.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PageOptions {
    /// The title.
    pub title: String,
    /// Whether tools may be called.
    pub allow_execute: bool,
    /// The text that replaces the Run button while calls are not allowed.
    pub execute_hint: String,
    /// Whether to show every view of a gateway, or only tools.
    #[serde(rename = "gateway")]
    pub is_gateway: bool,
}

impl PageOptions {
    /// Creates the options of a page that shows tools and cannot call them.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), allow_execute: false, execute_hint: String::new(), is_gateway: false }
    }
}

/// Returns the routes of the page and its assets under a prefix such as `/ui`, or at the root if it is empty. They are
/// open to everyone.
pub fn page_routes(prefix: &str, options: PageOptions) -> Router {
    let routes = Router::new()
        .route(&format!("{prefix}/"), get(page))
        .route(&format!("{prefix}/assets/{{file}}"), get(asset));
    let routes = if prefix.is_empty() { routes } else { routes.route(prefix, get(page)) };
    routes.with_state(Arc::new(options))
}

async fn page(State(options): State<Arc<PageOptions>>, OriginalUri(uri): OriginalUri) -> Response {
    let body = render(&options, uri.path());
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// Fills in the template. Links are relative to the URL that the browser sees, so they work under any prefix.
fn render(options: &PageOptions, path: &str) -> String {
    let base = match path.rsplit_once('/') {
        Some((_, "")) | None => String::new(),
        Some((_, last)) => format!("{last}/"),
    };
    let config = serde_json::to_string(options).unwrap_or_default();
    // In JSON these characters occur only inside strings. Escaped there, they cannot end the script element.
    let config = config.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let mut page = String::with_capacity(TEMPLATE.len() + config.len() + 256);
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        match name {
            "title" => page.push_str(&escape(&options.title)),
            "base" => page.push_str(&escape(&base)),
            "config" => page.push_str(&config),
            _ => {}
        }
        rest = after;
    }
    page + rest
}

/// Escapes text for an element or a quoted attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

async fn asset(Path(file): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = assets::find(&file) else { return StatusCode::NOT_FOUND.into_response() };
    let lists = |name, prefix: &str| {
        let value = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        value.is_some_and(|value| value.split(',').any(|item| item.trim().starts_with(prefix)))
    };
    let caching = [(CACHE_CONTROL, "no-cache"), (ETAG, &*asset.etag), (VARY, "accept-encoding")];
    if lists(IF_NONE_MATCH, &asset.etag) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let content_type = [(CONTENT_TYPE, asset.content_type)];
    if lists(ACCEPT_ENCODING, "gzip") {
        (caching, content_type, [(CONTENT_ENCODING, "gzip")], asset.gzip()).into_response()
    } else {
        (caching, content_type, asset.bytes.as_slice()).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(title: &str) -> PageOptions {
        PageOptions {
            title: title.to_owned(),
            allow_execute: false,
            execute_hint: String::new(),
            is_gateway: false,
        }
    }

    #[test]
    fn o7_a_title_cannot_break_out_of_its_element() {
        let title = r#"</title></script><script>alert(1)</script>"'&{{config}}"#;
        let page = render(&options(title), "/x/y");
        assert_eq!(page.matches("<script").count(), TEMPLATE.matches("<script").count(), "{page}");
        assert!(page.contains("&lt;/title&gt;"), "{page}");
        assert!(!page.contains("alert(1)</script>"), "{page}");
    }

    #[test]
    fn links_are_relative_to_the_url_in_the_browser() {
        for (path, link) in [("/", "\"assets/"), ("/x/y/", "\"assets/"), ("/x/y", "\"y/assets/")] {
            let page = render(&options("x"), path);
            assert!(page.contains(link), "{path}: {page}");
        }
    }
}
