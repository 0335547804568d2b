//! A page as it came → what an agent reads of it.

use std::thread;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use serde_json::{Value, json};
use url::Url;

use super::PageFormat;
use super::fetch::Fetched;
use super::text::{Kind, decode, kind};

/// Pages with more elements are given without looking for their main content.
const MAX_ELEMENTS: usize = 100_000;
/// Deeper pages are made by nobody who wants to be read, and reading them takes a stack without end.
const MAX_DEPTH: usize = 2_000;
/// The stack of the thread that reads a page: its libraries go down the tree by calling themselves.
const STACK: usize = 64 * 1024 * 1024;
/// What is said beside the content of a page.
const BESIDE: [&str; 8] = ["script", "style", "noscript", "template", "nav", "header", "footer", "aside"];
/// Main content shorter than this is doubted.
const SHORT: usize = 200;

/// What is to be made of a page.
pub(super) struct Wish {
    pub(super) format: PageFormat,
    pub(super) max_length: usize,
    pub(super) selector: Option<String>,
}

/// A page that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("{url} is a PDF, which web.fetch does not read; look for the same as a web page")]
    Pdf { url: String },
    #[error("{url} is {content_type}, not a text; web.fetch reads pages and texts only")]
    NoText { url: String, content_type: String },
    #[error("{url} is nested too deeply to be read; format='html' gives it as it is")]
    Deep { url: String },
    #[error("'{selector}' is no CSS selector")]
    Selector { selector: String },
    #[error("nothing on {url} matches '{selector}'; format='html' shows what is there")]
    NoMatch { url: String, selector: String },
    #[error("'selector' works on html pages only, and {url} is none")]
    NoHtml { url: String },
    #[error("{url} could not be read: the thread for it broke off")]
    Broken { url: String },
}

/// A part of a page.
struct Part {
    title: Option<String>,
    text: String,
}

/// Makes of a page what is wished for.
pub(super) fn made(fetched: Fetched, wish: &Wish) -> Result<Value, PageError> {
    let Fetched { url, content_type, body } = fetched;
    let kind = kind(content_type.as_deref(), &body);
    let part = match kind {
        Kind::Pdf => return Err(PageError::Pdf { url: url.to_string() }),
        Kind::Other => {
            let content_type = content_type.unwrap_or_else(|| "something unknown".into());
            return Err(PageError::NoText { url: url.to_string(), content_type });
        }
        Kind::Text if wish.selector.is_some() => return Err(PageError::NoHtml { url: url.to_string() }),
        Kind::Text => Part { title: None, text: decode(content_type.as_deref(), kind, &body) },
        Kind::Html => {
            let html = decode(content_type.as_deref(), kind, &body);
            if wish.format == PageFormat::Html && wish.selector.is_none() {
                Part { title: None, text: html }
            } else {
                on_a_tall_stack(&html, &url, wish)?
            }
        }
    };
    let text = tidied(&part.text);
    let length = text.chars().count();
    let mut page = json!({"url": url.as_str()});
    if let Some(title) = part.title {
        page["title"] = title.into();
    }
    if length > wish.max_length {
        page["text"] = text.chars().take(wish.max_length).collect::<String>().into();
        page["length"] = length.into();
        page["truncated"] = true.into();
    } else {
        page["text"] = text.into();
    }
    Ok(page)
}

fn on_a_tall_stack(html: &str, url: &Url, wish: &Wish) -> Result<Part, PageError> {
    if depth(html) > MAX_DEPTH {
        return Err(PageError::Deep { url: url.to_string() });
    }
    let broken = || PageError::Broken { url: url.to_string() };
    thread::scope(|scope| {
        let reader = thread::Builder::new().name("web page".into()).stack_size(STACK);
        let reading = reader.spawn_scoped(scope, || read(html, url, wish)).map_err(|_| broken())?;
        reading.join().unwrap_or_else(|_| Err(broken()))
    })
}

/// Tells how deep tags are nested at most, if none of them is closed by itself.
fn depth(html: &str) -> usize {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr",
    ];
    let (mut depth, mut deepest) = (0usize, 0);
    for tag in html.split('<').skip(1) {
        if let Some(rest) = tag.strip_prefix('/') {
            if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                depth = depth.saturating_sub(1);
            }
        } else if tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
            let name = tag[..end].to_ascii_lowercase();
            // Paragraphs and items close each other, and are seldom closed by hand.
            let closes_itself =
                matches!(name.as_str(), "p" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "option");
            if !VOID.contains(&name.as_str()) && !closes_itself {
                depth += 1;
                deepest = deepest.max(depth);
            }
        }
    }
    deepest
}

fn read(html: &str, url: &Url, wish: &Wish) -> Result<Part, PageError> {
    let document = Document::from(html);
    let title = document.select("title").first().text().trim().to_owned();
    let title = Some(title).filter(|it| !it.is_empty());
    let base = document.select("base[href]").first().attr("href").and_then(|it| url.join(&it).ok());
    let base = base.unwrap_or_else(|| url.clone());
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src")] {
        for element in &document.select(selector) {
            if let Some(whole) = element.attr(name).and_then(|it| base.join(it.trim()).ok()) {
                element.set_attr(name, whole.as_str());
            }
        }
    }
    if let Some(selector) = &wish.selector {
        return Ok(Part { title, text: selected(&document, selector, url, wish.format)? });
    }
    let whole = written(&document, wish.format);
    let article = article(&document, url, wish.format);
    // A short piece of a long page is more likely a mistake than its main content.
    let text = article.filter(|it| it.len() >= SHORT || it.len() * 4 >= whole.len()).unwrap_or(whole);
    Ok(Part { title, text })
}

/// Finds the main content of a page, as the reading view of a browser does.
fn article(document: &Document, url: &Url, format: PageFormat) -> Option<String> {
    let text_mode = if format == PageFormat::Markdown { TextMode::Markdown } else { TextMode::Formatted };
    let config = Config { text_mode, max_elements_to_parse: MAX_ELEMENTS, ..Config::default() };
    let mut readability =
        Readability::with_document(document.clone(), Some(url.as_str()), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    Some(article.text_content.to_string()).filter(|it| !it.trim().is_empty())
}

/// Writes all of a page but what stands beside its content.
fn written(document: &Document, format: PageFormat) -> String {
    match format {
        PageFormat::Markdown => document.md(Some(&BESIDE)).to_string(),
        _ => {
            let body = document.clone();
            body.select(&BESIDE.join(", ")).remove();
            body.select("body").formatted_text().to_string()
        }
    }
}

fn selected(document: &Document, selector: &str, url: &Url, format: PageFormat) -> Result<String, PageError> {
    let wrong = || PageError::Selector { selector: selector.to_owned() };
    let matcher = dom_query::Matcher::new(selector).map_err(|_| wrong())?;
    let found = document.select_matcher(&matcher);
    if found.is_empty() {
        return Err(PageError::NoMatch { url: url.to_string(), selector: selector.to_owned() });
    }
    let write = |node: &dom_query::NodeRef<'_>| match format {
        // As a page of its own: the element itself may be a heading or an item.
        PageFormat::Markdown => Document::fragment(node.html()).md(None).to_string(),
        PageFormat::Text => node.formatted_text().to_string(),
        PageFormat::Html => node.html().to_string(),
    };
    Ok(found.nodes().iter().map(write).collect::<Vec<_>>().join("\n\n"))
}

/// Takes out blank lines beyond one, and white space at the ends of lines.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.trim().lines().map(str::trim_end) {
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}
