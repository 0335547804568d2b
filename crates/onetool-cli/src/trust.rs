//! Trusted project directories: a record in the home directory for each, with a hash of every file that decides what
//! runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use onetool::config::{LoadedFile, Outline, OutlineEntry};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::token;

/// Limits for what is shown from an untrusted file.
const MAX_SHOWN_ENTRIES: usize = 50;
const MAX_SHOWN_CHARACTERS: usize = 200;

/// A directory with its own configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) directory: PathBuf,
    /// Its `.onetool` directory.
    pub(crate) state: PathBuf,
    pub(crate) config: PathBuf,
}

/// Whether the user trusts a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustStatus {
    Trusted,
    /// The user has not trusted it.
    NotTrusted,
    /// The user trusted it, but these files have changed since.
    Changed(Vec<String>),
}

/// A project whose configuration is not used.
pub(crate) struct UntrustedProject {
    pub(crate) project: Project,
    status: TrustStatus,
    /// What it would run or connect to, or why it cannot be read.
    pub(crate) outline: Result<Outline, CliError>,
}

/// The store of trusted projects.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    /// The directory of the records; `None` without a home directory.
    directory: Option<PathBuf>,
}

/// The hashes of a project's files, by name.
type FileHashes = BTreeMap<String, String>;

impl TrustStore {
    /// Creates a store in the `.onetool` directory of the user's home.
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self { directory: state.map(|it| it.join("trust")) }
    }

    /// Returns whether a project is trusted, and has not changed since.
    pub(crate) fn status(&self, project: &Project, outline: &Outline) -> TrustStatus {
        let Some(trusted) = self.read(&project.directory) else { return TrustStatus::NotTrusted };
        let current = project_hashes(project, outline);
        let names = trusted.keys().chain(current.keys());
        let mut changed: Vec<String> =
            names.filter(|name| trusted.get(*name) != current.get(*name)).cloned().collect();
        changed.sort();
        changed.dedup();
        if changed.is_empty() { TrustStatus::Trusted } else { TrustStatus::Changed(changed) }
    }

    /// Trusts a project in its current state.
    pub(crate) fn trust(&self, project: &Project, outline: &Outline) -> Result<(), CliError> {
        self.write(&project.directory, &project_hashes(project, outline))
    }

    /// Records a token that onetool created in a trusted project, which stays trusted.
    pub(crate) fn add_token(&self, state: &Path) -> Result<(), CliError> {
        let Some(directory) = state.parent() else { return Ok(()) };
        let Some(mut files) = self.read(directory) else { return Ok(()) };
        files.extend(file_hashes(directory, &token_file(state)));
        self.write(directory, &files)
    }

    /// Stops trusting a directory; returns whether it was trusted.
    pub(crate) fn revoke(&self, directory: &Path) -> Result<bool, CliError> {
        let Some(record) = self.record_path(directory) else { return Ok(false) };
        match fs::remove_file(&record) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => {
                Err(CliError::failed(format!("cannot remove '{}': {error}", display_path(&record))))
            }
        }
    }

    /// Returns the trusted directories.
    pub(crate) fn list(&self) -> Vec<PathBuf> {
        let records = self.directory.iter().flat_map(fs::read_dir).flatten().flatten();
        let directory = |record: fs::DirEntry| {
            let record: Value = serde_json::from_slice(&fs::read(record.path()).ok()?).ok()?;
            Some(PathBuf::from(record["directory"].as_str()?))
        };
        let mut directories: Vec<PathBuf> = records.filter_map(directory).collect();
        directories.sort();
        directories
    }

    /// Returns the path of a directory's record, whose name is a hash of the directory's path.
    fn record_path(&self, directory: &Path) -> Option<PathBuf> {
        let name = LoadedFile::new(directory, directory.as_os_str().as_bytes()).digest.to_string();
        self.directory.as_ref().map(|it| it.join(name))
    }

    fn read(&self, directory: &Path) -> Option<FileHashes> {
        let record: Value = serde_json::from_slice(&fs::read(self.record_path(directory)?).ok()?).ok()?;
        let files = record["files"].as_object()?.iter();
        files.map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect()
    }

    fn write(&self, directory: &Path, files: &FileHashes) -> Result<(), CliError> {
        let Some(record) = self.record_path(directory) else {
            let no_home = CliError::failed("cannot save trust: no home directory");
            return Err(no_home.hinted("set HOME, or use `--trust` with every command"));
        };
        let text = json!({"directory": directory.to_string_lossy(), "files": files});
        write_atomically(&record, &format!("{text:#}\n"))
            .map_err(|error| CliError::failed(format!("cannot write '{}': {error}", display_path(&record))))
    }
}

/// Writes to another file and renames it, so that no reader sees half a record.
fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&new, path)).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

/// Hashes every file that decides what runs in a project, and who has access to it.
fn project_hashes(project: &Project, outline: &Outline) -> FileHashes {
    let token = token_file(&project.state);
    let files: Vec<LoadedFile> =
        outline.files.iter().chain(&outline.further_files).chain(&token).cloned().collect();
    file_hashes(&project.directory, &files)
}

fn token_file(state: &Path) -> Vec<LoadedFile> {
    let path = state.join(token::FILE);
    fs::read(&path).map(|bytes| LoadedFile::new(&path, &bytes)).into_iter().collect()
}

fn file_hashes(directory: &Path, files: &[LoadedFile]) -> FileHashes {
    let name = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
    files.iter().map(|it| (name(&it.path), it.digest.to_string())).collect()
}

impl UntrustedProject {
    pub(crate) fn new(project: Project, status: TrustStatus, outline: Result<Outline, CliError>) -> Self {
        Self { project, status, outline }
    }

    /// Returns one line that says what is not used, and why.
    pub(crate) fn summary(&self) -> String {
        let file = display_path(&self.project.config);
        match (&self.status, &self.outline) {
            (_, Err(error)) => format!("{file} is not trusted and cannot be read: {}", error.message()),
            (TrustStatus::Changed(_), _) => {
                format!("{file} is not used: it has changed since it was trusted")
            }
            _ => format!("{file} is not used: it is not trusted"),
        }
    }

    /// Returns the command that trusts the project.
    pub(crate) fn command(&self) -> String {
        format!("onetool trust {}", shell_quote(&display_path(&self.project.directory)))
    }

    /// Returns a notice for the model. It quotes nothing from the file, which may contain instructions for the model.
    pub(crate) fn notice(&self) -> String {
        format!(
            "This server does not use the project's configuration, {}, because the user has not trusted it. Ask the \
             user to review it, to run `{}` in a terminal, and then to restart this server.",
            display_path(&self.project.config),
            self.command()
        )
    }

    /// Lists the changed files, and what the configuration would run or connect to. The text is from untrusted files.
    pub(crate) fn details(&self) -> String {
        let changed = match &self.status {
            TrustStatus::Changed(files) => {
                let files: Vec<String> = files.iter().map(|it| sanitize(it)).collect();
                format!("\nChanged: {}", files.join(", "))
            }
            _ => String::new(),
        };
        let outline = self.outline.as_ref().map_or_else(|_| String::new(), listing);
        format!("{changed}{outline}")
    }

    /// Returns the error for a command that needs the configuration.
    pub(crate) fn into_error(self) -> CliError {
        let error = CliError::failed(self.summary()).with_details(self.details());
        error.hinted(format!("review it, then run `{}`, or pass `--trust` to use it once", self.command()))
    }
}

/// Lists what a configuration would run or connect to, one per line.
pub(crate) fn listing(outline: &Outline) -> String {
    let mut text = String::from("\nIt would run or connect to:");
    // Writing to a String cannot fail.
    for line in lines(outline) {
        let _ = write!(text, "\n  {line}");
    }
    let omitted = outline.entries.len().saturating_sub(MAX_SHOWN_ENTRIES);
    if omitted > 0 {
        let _ = write!(text, "\n  … and {omitted} more");
    }
    if outline.entries.is_empty() { String::new() } else { text }
}

/// Returns the first entries as lines that are safe to print on a terminal.
pub(crate) fn lines(outline: &Outline) -> impl Iterator<Item = String> {
    let line = |it: &OutlineEntry| format!("{}: {}", sanitize(&it.key), sanitize(&it.what));
    outline.entries.iter().take(MAX_SHOWN_ENTRIES).map(line)
}

/// Quotes a word for a shell, if necessary.
fn shell_quote(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | ',');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns a path as text that is safe to print on a terminal.
pub(crate) fn display_path(path: &Path) -> String {
    sanitize(&path.to_string_lossy())
}

/// Makes untrusted text safe to print on a terminal: escapes control, bidirectional and invisible characters, and
/// truncates long text.
fn sanitize(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let mut sanitized = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == MAX_SHOWN_CHARACTERS {
            sanitized.push('…');
            break;
        }
        if c.is_control() || is_hidden(c) {
            sanitized.extend(c.escape_unicode());
        } else {
            sanitized.push(c);
        }
    }
    sanitized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h2_what_an_untrusted_file_says_cannot_steer_a_terminal() {
        assert_eq!(sanitize("a\u{1b}[2Jb\u{202e}c\nd é"), "a\\u{1b}[2Jb\\u{202e}c\\u{a}d é");
        assert_eq!(
            (shell_quote("/a/b-c").as_str(), shell_quote("/a b/it's").as_str()),
            ("/a/b-c", r"'/a b/it'\''s'")
        );
        assert_eq!(sanitize(&"x".repeat(1000)).chars().count(), MAX_SHOWN_CHARACTERS + 1);
    }
}
