//! Reads descriptions, and the documents that they refer to, from files and URLs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use reqwest::header::LOCATION;
use url::Url;

use crate::LoadError;
use crate::document::{Location, shown_url};
use crate::transport::{LazyClient, MAX_REDIRECTS, causes, read_limited};

/// Where a description comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file. Documents that it refers to may lie beside it or in folders below.
    File(PathBuf),
    /// A URL, which is thereby allowed even if its address is private. Documents that it refers to have to be of the
    /// same origin.
    Url(Url),
    /// The text itself, with the URL that relative servers and references in it are relative to.
    Text {
        /// JSON or YAML.
        text: String,
        /// Where it came from.
        base: Option<Url>,
    },
}

impl Origin {
    pub(crate) fn location(&self) -> Location {
        match self {
            Self::File(path) => Location::File(path.clone()),
            Self::Url(url) | Self::Text { base: Some(url), .. } => Location::Url(url.clone()),
            Self::Text { base: None, .. } => Location::Nowhere,
        }
    }

    /// Reads the description itself. Only a URL needs the client, which takes a while to make.
    pub(crate) async fn read(self, client: &LazyClient, limit: usize) -> Result<Vec<u8>, LoadError> {
        match self {
            Self::File(path) => read_file(&path, limit),
            Self::Url(url) => fetch(client, url, limit).await,
            Self::Text { text, .. } if text.len() > limit => {
                Err(LoadError::TooLarge { document: Location::Nowhere.to_string(), limit })
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
            stays_below(path, root)?;
            read_file(path, limit)
        }
        (Location::Url(url), _) => fetch(client, url.clone(), limit).await,
        _ => return Err(format!("'{location}' cannot be read from there")),
    };
    read.map_err(|error| causes(&error))
}

/// Refuses a file that a link leads out of the description's folder.
fn stays_below(path: &Path, root: &Path) -> Result<(), String> {
    let folder = match root.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let real = |path: &Path| {
        path.canonicalize().map_err(|error| format!("cannot read '{}': {error}", path.display()))
    };
    if real(path)?.starts_with(real(folder)?) {
        return Ok(());
    }
    Err(format!("'{}' is a link that leads out of the folder of the description", path.display()))
}

fn read_file(path: &Path, limit: usize) -> Result<Vec<u8>, LoadError> {
    let failed = |source| LoadError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(limit).min(limit) + 1);
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limit {
        return Err(LoadError::TooLarge { document: path.display().to_string(), limit });
    }
    Ok(bytes)
}

/// Fetches a document; it carries no credentials, so redirects may lead to any public host.
async fn fetch(client: &LazyClient, first: Url, limit: usize) -> Result<Vec<u8>, LoadError> {
    let shown = shown_url(&first);
    let failed = |reason: String| LoadError::Fetch { url: shown.clone(), reason };
    let http = client.get().map_err(failed)?;
    let mut url = first;
    for _ in 0..=MAX_REDIRECTS {
        client.guard().check(&url).await?;
        let response = http.get(url.clone()).send().await;
        let response = response.map_err(|error| failed(causes(&error.without_url())))?;
        let status = response.status();
        if status.is_redirection()
            && let Some(next) = response.headers().get(LOCATION).and_then(|it| it.to_str().ok())
        {
            let next = url.join(next).map_err(|error| failed(format!("bad redirect: {error}")))?;
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(failed("a redirect leads from https to http".into()));
            }
            url = next;
            continue;
        }
        if !status.is_success() {
            return Err(failed(format!("HTTP {status}")));
        }
        let bytes = read_limited(response, limit).await.map_err(|error| failed(causes(&error)))?;
        return bytes.ok_or_else(|| LoadError::TooLarge { document: shown.clone(), limit });
    }
    Err(failed(format!("more than {MAX_REDIRECTS} redirects")))
}
