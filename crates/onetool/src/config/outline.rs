//! What a configuration would start and reach, told without doing any of it.

use std::path::{Path, PathBuf, absolute};
use std::time::{Duration, Instant};

use url::Url;

use super::include::read_tree;
use super::resolve::{pack_files, resolve_path};
use super::secrets::read_secrets;
use super::tree::{Kind, Node, Place};
use super::{ConfigError, LoadedFile, PackFilesConfig, SECRETS_FILE, expand};

/// Larger files are neither packs nor descriptions.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// How many packs there may be, and how long it may take to find them.
const MAX_FILES: usize = 1000;
const MAX_TIME: Duration = Duration::from_secs(2);

/// What a configuration would start and reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The files that it consists of: the main one, its includes and the secrets.
    pub files: Vec<LoadedFile>,
    /// Further files that decide what runs: Python packs and local OpenAPI descriptions.
    pub further_files: Vec<LoadedFile>,
    /// What it would start, reach and open.
    pub entries: Vec<OutlineEntry>,
}

/// One thing that a configuration would start, reach or open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Its key, such as `servers.github`.
    pub key: String,
    /// The command line, address or file, as written: variables are not filled in.
    pub what: String,
}

/// Reads what the configuration at `path` would start and reach. Nothing is started, and nothing but files is opened.
///
/// # Errors
/// When a file cannot be read or is not YAML.
pub fn outline(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Outline, ConfigError> {
    let path =
        &absolute(path).map_err(|source| ConfigError::Read { path: path.to_owned(), at: None, source })?;
    let (tree, mut files) = read_tree(path)?;
    let secrets = read_secrets(&path.with_file_name(SECRETS_FILE), &mut Vec::new(), &mut files)?;
    let mut expanded = tree.clone();
    // A variable that is missing here is missing when the configuration is loaded, and nothing runs then.
    let lenient = |name: &str| env(name).or_else(|| Some(format!("${{{name}}}")));
    expand::Variables::new(secrets, &lenient).expand(&mut expanded, "")?;
    let further_files = further_files(&expanded)?;
    let mut entries = entries(&tree);
    entries.extend(
        further_files
            .iter()
            .filter(|it| it.path.extension().is_some_and(|it| it == "py"))
            .map(|it| OutlineEntry { key: "packs.files".into(), what: it.path.display().to_string() }),
    );
    Ok(Outline { files, further_files, entries })
}

/// Reads the packs and the local descriptions.
fn further_files(tree: &Node) -> Result<Vec<LoadedFile>, ConfigError> {
    let root = Place::root(tree);
    let patterns = tree.get("packs").and_then(|it| it.value.get("files"));
    let patterns = patterns.map(|it| texts(&it.value));
    let place = root.field("packs").field("files");
    let packs = pack_files(patterns.as_deref(), &place);
    let packs = matching(&packs).ok_or_else(|| ConfigError::invalid(&place, "matches too many files"))?;
    let specs = children(tree, "openapi").filter_map(|(name, api)| {
        let spec = text(api.get("spec").map(|it| &it.value)?)?;
        let place = root.field("openapi").field(name).field("spec");
        (!spec.contains("://")).then(|| resolve_path(spec, &place))
    });
    Ok(packs.into_iter().chain(specs).filter_map(|path| read_file(&path)).collect())
}

/// Returns the files that patterns lead to; `None` if that takes too long, since nobody has trusted them yet.
fn matching(patterns: &[PackFilesConfig]) -> Option<Vec<PathBuf>> {
    let end = Instant::now() + MAX_TIME;
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        let paths = glob::glob(pattern.pattern.to_str()?).into_iter().flatten();
        for path in paths {
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

fn entries(tree: &Node) -> Vec<OutlineEntry> {
    let mut found = Entries(Vec::new());
    for (name, server) in children(tree, "servers") {
        found.add_command(&format!("servers.{name}"), server.get("command"), server.get("args"));
        found.add(&format!("servers.{name}"), server.get("url"));
    }
    for (name, api) in children(tree, "openapi") {
        found.add(&format!("openapi.{name}"), api.get("spec"));
        found.add(&format!("openapi.{name}"), api.get("base_url"));
    }
    for tool in items(tree, "tools") {
        let name = tool.get("name").and_then(|it| text(&it.value)).unwrap_or("?");
        let key = format!("tools.{name}");
        found.add_command(&key, None, tool.get("command"));
        found.add(&key, tool.get("http").and_then(|it| it.value.get("url")));
        if tool.get("python").is_some() {
            found.0.push(OutlineEntry { key, what: "Python code, in the sandbox".into() });
        }
    }
    for resource in items(tree, "resources") {
        let name = resource.get("name").and_then(|it| text(&it.value)).unwrap_or("?");
        found.add(&format!("resources.{name}"), resource.get("file"));
    }
    for (name, pack) in children(tree, "packs") {
        for key in ["roots", "base_url", "npm_url", "pypi_url", "crates_url", "allow_private"] {
            found.add(&format!("packs.{name}.{key}"), pack.get(key));
        }
        for (database, url) in children(pack, "urls") {
            found.add_node(&format!("packs.{name}.urls.{database}"), url);
        }
    }
    if let Some(notify) = tree.get("notify") {
        for topic in items(&notify.value, "topics") {
            found.add("notify.topics", topic.get("file"));
        }
    }
    for (section, key) in
        [("storage", "url"), ("http", "listen"), ("http", "token"), ("http", "allow_execute")]
    {
        let value = tree.get(section).and_then(|it| it.value.get(key));
        // A token that is written out is not for a terminal.
        let is_token = key == "token" && value.and_then(|it| text(&it.value)) != Some("none");
        found.add(&format!("{section}.{key}"), value.filter(|_| !is_token));
    }
    found.0
}

struct Entries(Vec<OutlineEntry>);

impl Entries {
    fn add(&mut self, key: &str, entry: Option<&super::tree::Entry>) {
        if let Some(entry) = entry {
            self.add_node(key, &entry.value);
        }
    }

    fn add_node(&mut self, key: &str, node: &Node) {
        let what = match text(node) {
            Some(text) => without_password(text),
            None => texts(node).join(", "),
        };
        if !what.is_empty() {
            self.0.push(OutlineEntry { key: key.to_owned(), what });
        }
    }

    fn add_command(
        &mut self,
        key: &str,
        program: Option<&super::tree::Entry>,
        arguments: Option<&super::tree::Entry>,
    ) {
        let program = program.and_then(|it| text(&it.value)).map(str::to_owned);
        let arguments = arguments.map(|it| texts(&it.value)).unwrap_or_default();
        let line: Vec<String> = program.into_iter().chain(arguments).collect();
        if !line.is_empty() {
            self.0.push(OutlineEntry { key: key.to_owned(), what: line.join(" ") });
        }
    }
}

fn without_password(text: &str) -> String {
    let masked = Url::parse(text).ok().filter(|url| url.password().is_some()).map(|mut url| {
        // Only an address without a host cannot have one.
        let _ = url.set_password(Some("***"));
        url.to_string()
    });
    masked.unwrap_or_else(|| text.to_owned())
}

fn children<'a>(node: &'a Node, key: &str) -> impl Iterator<Item = (&'a str, &'a Node)> {
    let entries = node.get(key).and_then(|it| match &it.value.kind {
        Kind::Map(entries) => Some(entries),
        _ => None,
    });
    entries.into_iter().flatten().map(|(name, entry)| (name.as_str(), &entry.value))
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    match node.get(key).map(|it| &it.value.kind) {
        Some(Kind::Seq(items)) => items,
        _ => &[],
    }
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar(scalar) if !node.is_null() => Some(&scalar.text),
        _ => None,
    }
}

fn texts(node: &Node) -> Vec<String> {
    match &node.kind {
        Kind::Seq(items) => items.iter().filter_map(text).map(str::to_owned).collect(),
        _ => text(node).map(str::to_owned).into_iter().collect(),
    }
}
