//! Lists what a configuration would run and connect to, without doing so.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use onetool_config::{ConfigError, Document, LoadedFile, Section};
use url::Url;

use super::pack_files;

/// Larger files are neither packs nor descriptions.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Limits of the search for packs, because the patterns are not trusted yet.
const MAX_FILES: usize = 1000;
const MAX_TIME: Duration = Duration::from_secs(2);

/// What a configuration would run and connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The files of the configuration: the main one, its includes and the secrets.
    pub files: Vec<LoadedFile>,
    /// Other files that determine what runs: Python packs and local OpenAPI descriptions.
    pub further_files: Vec<LoadedFile>,
    /// What it would run, connect to and open.
    pub entries: Vec<OutlineEntry>,
}

/// A command, address or file that a configuration would use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineEntry {
    /// Its key, such as `servers.github`.
    pub key: String,
    /// The command line, address or file, as written: variables are not expanded.
    pub what: String,
}

/// Returns what the configuration at `path` would run and connect to. Only reads files.
///
/// # Errors
/// When a file cannot be read or is not YAML, or when the patterns of Python packs are not a list or match too many
/// files.
pub fn outline(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Outline, ConfigError> {
    let (written, expanded) = onetool_config::read_as_written(path, env)?;
    let further_files = further_files(&expanded)?;
    let mut entries = entries(&written.root());
    let packs = further_files.iter().filter(|it| it.path.extension().is_some_and(|it| it == "py"));
    entries.extend(
        packs.map(|it| OutlineEntry { key: "packs.files".into(), what: it.path.display().to_string() }),
    );
    Ok(Outline { files: written.files, further_files, entries })
}

/// Reads the packs and the local descriptions.
fn further_files(document: &Document) -> Result<Vec<LoadedFile>, ConfigError> {
    let root = document.root();
    let section = root.field("packs").field("files");
    let packs = matching(&pack_files(&section)?).ok_or_else(|| section.invalid("matches too many files"))?;
    let apis = root.field("openapi");
    let specs = apis.keys().filter_map(|name| {
        let section = apis.field(name).field("spec");
        let spec = section.text()?;
        (!spec.contains("://")).then(|| section.absolute_path(spec))
    });
    Ok(packs.into_iter().chain(specs).filter_map(|path| read_file(&path)).collect())
}

/// Returns the files that match the patterns; `None` if there are too many, or if the search takes too long.
fn matching(patterns: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let end = Instant::now() + MAX_TIME;
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        for path in glob::glob(pattern.to_str()?).into_iter().flatten() {
            if Instant::now() > end || found.len() > MAX_FILES {
                return None;
            }
            found.extend(path.ok().filter(|it| it.is_file() && !found.contains(it)));
        }
    }
    found.sort();
    Some(found)
}

fn read_file(path: &Path) -> Option<LoadedFile> {
    let is_small_file = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_BYTES);
    if !is_small_file {
        return None;
    }
    Some(LoadedFile::new(path, &std::fs::read(path).ok()?))
}

fn entries(root: &Section<'_>) -> Vec<OutlineEntry> {
    let mut found = Entries(Vec::new());
    let servers = root.field("servers");
    for name in servers.keys() {
        let (key, server) = (format!("servers.{name}"), servers.field(name));
        found.add_command(&key, &[server.field("command"), server.field("args")]);
        found.add(&key, &server.field("url"));
    }
    let apis = root.field("openapi");
    for name in apis.keys() {
        let (key, api) = (format!("openapi.{name}"), apis.field(name));
        found.add(&key, &api.field("spec"));
        found.add(&key, &api.field("base_url"));
    }
    for tool in root.field("tools").items() {
        let key = format!("tools.{}", tool.field("name").text().unwrap_or("?"));
        found.add_command(&key, &[tool.field("command")]);
        found.add(&key, &tool.field("http").field("url"));
        if tool.field("python").is_present() {
            found.0.push(OutlineEntry { key, what: "Python code, in the sandbox".into() });
        }
    }
    for resource in root.field("resources").items() {
        let name = resource.field("name").text().unwrap_or("?");
        found.add(&format!("resources.{name}"), &resource.field("file"));
    }
    let packs = root.field("packs");
    for name in packs.keys() {
        let pack = packs.field(name);
        for key in ["roots", "base_url", "npm_url", "pypi_url", "crates_url", "allow_private"] {
            found.add(&format!("packs.{name}.{key}"), &pack.field(key));
        }
        let urls = pack.field("urls");
        for database in urls.keys() {
            found.add(&format!("packs.{name}.urls.{database}"), &urls.field(database));
        }
    }
    for topic in root.field("notify").field("topics").items() {
        found.add("notify.topics", &topic.field("file"));
    }
    for (section, key) in
        [("storage", "url"), ("http", "listen"), ("http", "token"), ("http", "allow_execute")]
    {
        let value = root.field(section).field(key);
        // A literal token must not appear on a terminal.
        if key != "token" || value.text() == Some("none") {
            found.add(&format!("{section}.{key}"), &value);
        }
    }
    found.0
}

struct Entries(Vec<OutlineEntry>);

impl Entries {
    fn add(&mut self, key: &str, section: &Section<'_>) {
        let what = match section.text() {
            Some(text) => without_password(text),
            None => texts(section).join(", "),
        };
        if !what.is_empty() {
            self.0.push(OutlineEntry { key: key.to_owned(), what });
        }
    }

    fn add_command(&mut self, key: &str, parts: &[Section<'_>]) {
        let line: Vec<String> = parts.iter().flat_map(texts).collect();
        if !line.is_empty() {
            self.0.push(OutlineEntry { key: key.to_owned(), what: line.join(" ") });
        }
    }
}

fn without_password(text: &str) -> String {
    let masked = Url::parse(text).ok().filter(|url| url.password().is_some()).map(|mut url| {
        // This fails only for a URL without a host, which cannot have a password.
        let _ = url.set_password(Some("***"));
        url.to_string()
    });
    masked.unwrap_or_else(|| text.to_owned())
}

/// Returns the text of a value, or of the items of a list.
fn texts(section: &Section<'_>) -> Vec<String> {
    match section.text() {
        Some(text) => vec![text.to_owned()],
        None => section.items().filter_map(|it| it.text().map(str::to_owned)).collect(),
    }
}
