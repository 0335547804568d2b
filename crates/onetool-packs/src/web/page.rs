//! Extracts text for agents from a page.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::PageFormat;
use super::text::{Kind, decode, kind};

/// The main content of pages with more elements is not extracted; they are returned whole.
const MAX_ELEMENTS: usize = 100_000;
/// Deeper pages are refused, because the time to process them grows with the square of the depth.
const MAX_DEPTH: usize = 2_000;
/// Elements that surround the content of a page.
const BOILERPLATE: [&str; 8] =
    ["script", "style", "noscript", "template", "nav", "header", "footer", "aside"];
/// Main content that is shorter may be a wrong guess.
const SHORT: usize = 200;

/// A page to process, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PageRequest {
    pub(super) url: String,
    /// The header `Content-Type`, if there is one.
    pub(super) content_type: Option<String>,
    pub(super) format: PageFormat,
    /// Maximum number of characters to return.
    pub(super) max_length: usize,
    pub(super) selector: Option<String>,
}

/// A page that cannot be read.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub(super) enum PageError {
    #[error("{url} is a PDF, which web.fetch cannot read; look for the same content as a web page")]
    Pdf { url: String },
    #[error("{url} is {content_type}, not text; web.fetch reads only pages and text")]
    NotText { url: String, content_type: String },
    #[error("{url} is nested too deeply to extract text; format='html' returns it unchanged")]
    TooDeep { url: String },
    #[error("invalid CSS selector '{selector}'")]
    Selector { selector: String },
    #[error("nothing on {url} matches '{selector}'; format='html' shows the page")]
    NoMatch { url: String, selector: String },
    #[error("'selector' works only on HTML pages, and {url} is not one")]
    NotHtml { url: String },
    #[error("invalid URL '{url}'")]
    InvalidUrl { url: String },
}

/// A part of a page.
struct Part {
    title: Option<String>,
    text: String,
}

/// Reads a page. Only for a caged process, because the parsers may use any amount of stack, memory and time.
pub(super) fn read(request: &PageRequest, body: &[u8]) -> Result<Value, PageError> {
    let PageRequest { url, content_type, .. } = request;
    let url = || url.clone();
    let kind = kind(content_type.as_deref(), body);
    let part = match kind {
        Kind::Pdf => return Err(PageError::Pdf { url: url() }),
        Kind::Other => {
            let content_type = content_type.clone().unwrap_or_else(|| "of an unknown type".into());
            return Err(PageError::NotText { url: url(), content_type });
        }
        Kind::Text if request.selector.is_some() => return Err(PageError::NotHtml { url: url() }),
        Kind::Text => Part { title: None, text: decode(content_type.as_deref(), kind, body) },
        Kind::Html => {
            let html = decode(content_type.as_deref(), kind, body);
            if request.format == PageFormat::Html && request.selector.is_none() {
                Part { title: None, text: html }
            } else if depth(&html) > MAX_DEPTH {
                return Err(PageError::TooDeep { url: url() });
            } else {
                read_html(&html, request)?
            }
        }
    };
    let text = collapse_whitespace(&part.text);
    let length = text.chars().count();
    let mut page = json!({"url": request.url});
    if let Some(title) = part.title {
        page["title"] = title.into();
    }
    if length > request.max_length {
        page["text"] = text.chars().take(request.max_length).collect::<String>().into();
        page["length"] = length.into();
        page["truncated"] = true.into();
    } else {
        page["text"] = text.into();
    }
    Ok(page)
}

/// Estimates how deeply the tags of a page are nested.
fn depth(html: &str) -> usize {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr",
    ];
    // Their end tags are optional.
    const OPTIONAL_END: [&str; 8] = ["p", "li", "dt", "dd", "tr", "td", "th", "option"];
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        if let Some(rest) = tag.strip_prefix('/') {
            if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                depth = depth.saturating_sub(1);
            }
        } else if tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
            let name = tag[..end].to_ascii_lowercase();
            if !VOID.contains(&name.as_str()) && !OPTIONAL_END.contains(&name.as_str()) {
                depth += 1;
                deepest = deepest.max(depth);
            }
        }
    }
    deepest
}

fn read_html(html: &str, request: &PageRequest) -> Result<Part, PageError> {
    let url = &Url::parse(&request.url).map_err(|_| PageError::InvalidUrl { url: request.url.clone() })?;
    let document = Document::from(html);
    let title = document.select("title").first().text().trim().to_owned();
    let title = Some(title).filter(|it| !it.is_empty());
    let base = document.select("base[href]").first().attr("href").and_then(|it| url.join(&it).ok());
    let base = base.unwrap_or_else(|| url.clone());
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src")] {
        for element in &document.select(selector) {
            if let Some(absolute) = element.attr(name).and_then(|it| base.join(it.trim()).ok()) {
                element.set_attr(name, absolute.as_str());
            }
        }
    }
    if let Some(selector) = &request.selector {
        return Ok(Part { title, text: selected(&document, selector, url, request.format)? });
    }
    let whole = whole_page(&document, request.format);
    let article = article(&document, url, request.format);
    // A short part of a long page is more likely a wrong guess than its main content.
    let text = article.filter(|it| it.len() >= SHORT || it.len() * 4 >= whole.len()).unwrap_or(whole);
    Ok(Part { title, text })
}

/// Finds the main content of a page, like the reader view of a browser.
fn article(document: &Document, url: &Url, format: PageFormat) -> Option<String> {
    let text_mode = if format == PageFormat::Markdown { TextMode::Markdown } else { TextMode::Formatted };
    let config = Config { text_mode, max_elements_to_parse: MAX_ELEMENTS, ..Config::default() };
    let mut readability =
        Readability::with_document(document.clone(), Some(url.as_str()), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    Some(article.text_content.to_string()).filter(|it| !it.trim().is_empty())
}

/// Returns the text of the whole page, without boilerplate.
fn whole_page(document: &Document, format: PageFormat) -> String {
    match format {
        PageFormat::Markdown => document.md(Some(&BOILERPLATE)).to_string(),
        _ => {
            let body = document.clone();
            body.select(&BOILERPLATE.join(", ")).remove();
            body.select("body").formatted_text().to_string()
        }
    }
}

fn selected(document: &Document, selector: &str, url: &Url, format: PageFormat) -> Result<String, PageError> {
    let invalid = || PageError::Selector { selector: selector.to_owned() };
    let matcher = dom_query::Matcher::new(selector).map_err(|_| invalid())?;
    let found = document.select_matcher(&matcher);
    if found.is_empty() {
        return Err(PageError::NoMatch { url: url.to_string(), selector: selector.to_owned() });
    }
    let write = |node: &dom_query::NodeRef<'_>| match format {
        // As a separate document, so that the element itself keeps its format, such as a heading or a list item.
        PageFormat::Markdown => Document::fragment(node.html()).md(None).to_string(),
        PageFormat::Text => node.formatted_text().to_string(),
        PageFormat::Html => node.html().to_string(),
    };
    Ok(found.nodes().iter().map(write).collect::<Vec<_>>().join("\n\n"))
}

/// Collapses several blank lines into one, and removes whitespace at the ends of lines.
fn collapse_whitespace(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.trim().lines().map(str::trim_end) {
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            collapsed.push_str(line);
            collapsed.push('\n');
        }
    }
    collapsed.truncate(collapsed.trim_end().len());
    collapsed
}
