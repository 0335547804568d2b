//! Reads descriptions, and the documents they refer to, from files and URLs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use onetool_core::error_chain;
use reqwest::header::LOCATION;
use url::Url;

use crate::error::LoadError;
use crate::location::{Location, redacted_url};
use crate::transport::{LazyClient, MAX_REDIRECTS, read_limited};

/// Where a description comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file. Documents it refers to must be in the same directory or below it.
    File(PathBuf),
    /// A URL, which is allowed even if its address is private. Documents it refers to must have the same origin.
    Url(Url),
    /// The text of the description.
    Text {
        /// JSON or YAML.
        text: String,
        /// The URL the text came from; relative servers and references are resolved against it.
        base: Option<Url>,
    },
}

impl Origin {
    pub(crate) fn location(&self) -> Location {
        match self {
            Self::File(path) => Location::File(path.clone()),
            Self::Url(url) | Self::Text { base: Some(url), .. } => Location::Url(url.clone()),
            Self::Text { base: None, .. } => Location::Inline,
        }
    }

    /// Reads the description. Only a URL uses the client, which is slow to create.
    pub(crate) async fn read(self, client: &LazyClient, limit: usize) -> Result<Vec<u8>, LoadError> {
        match self {
            Self::File(path) => read_file(&path, limit),
            Self::Url(url) => fetch(client, url, limit).await,
            Self::Text { text, .. } if text.len() > limit => {
                Err(LoadError::TooLarge { document: Location::Inline.to_string(), limit })
            }
            Self::Text { text, .. } => Ok(text.into_bytes()),
        }
    }
}

/// Reads a document that the description at `root` refers to.
pub(crate) async fn read_referenced(
    location: &Location,
    root: &Location,
    client: &LazyClient,
    limit: usize,
) -> Result<Vec<u8>, String> {
    let read = match (location, root) {
        (Location::File(path), Location::File(root)) => {
            check_inside_directory(path, root)?;
            read_file(path, limit)
        }
        (Location::Url(url), _) => fetch(client, url.clone(), limit).await,
        _ => return Err(format!("'{root}' cannot refer to '{location}'")),
    };
    read.map_err(|error| error_chain(&error))
}

/// Rejects a file that a symlink places outside the directory of the description at `root`.
fn check_inside_directory(path: &Path, root: &Path) -> Result<(), String> {
    let directory = match root.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let canonical = |path: &Path| {
        path.canonicalize().map_err(|error| format!("cannot read '{}': {error}", path.display()))
    };
    if canonical(path)?.starts_with(canonical(directory)?) {
        return Ok(());
    }
    Err(format!("'{}' is a symlink that points outside the description's directory", path.display()))
}

fn read_file(path: &Path, limit: usize) -> Result<Vec<u8>, LoadError> {
    let read_error = |source| LoadError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read_error)?;
    let size = file.metadata().map_err(read_error)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(limit).min(limit) + 1);
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() > limit {
        return Err(LoadError::TooLarge { document: path.display().to_string(), limit });
    }
    Ok(bytes)
}

/// Fetches a document. The request carries no credentials, so it may be redirected to any public host.
async fn fetch(client: &LazyClient, document: Url, limit: usize) -> Result<Vec<u8>, LoadError> {
    let shown = redacted_url(&document);
    let fetch_error = |reason: String| LoadError::Fetch { url: shown.clone(), reason };
    let http = client.get().map_err(fetch_error)?;
    let mut url = document;
    for _ in 0..=MAX_REDIRECTS {
        client.guard().check(&url).await?;
        let response = http.get(url.clone()).send().await;
        let response = response.map_err(|error| fetch_error(error_chain(&error.without_url())))?;
        let status = response.status();
        if status.is_redirection()
            && let Some(target) = response.headers().get(LOCATION).and_then(|it| it.to_str().ok())
        {
            let target =
                url.join(target).map_err(|error| fetch_error(format!("invalid redirect: {error}")))?;
            if url.scheme() == "https" && target.scheme() != "https" {
                return Err(fetch_error("redirected from https to an insecure URL".into()));
            }
            url = target;
            continue;
        }
        if !status.is_success() {
            return Err(fetch_error(format!("HTTP {status}")));
        }
        let bytes = read_limited(response, limit).await.map_err(|error| fetch_error(error_chain(&error)))?;
        return bytes.ok_or_else(|| LoadError::TooLarge { document: shown.clone(), limit });
    }
    Err(fetch_error(format!("too many redirects (limit {MAX_REDIRECTS})")))
}
