//! Which project directories the user trusts: one record each in the home directory, with a hash of every file that
//! decides what runs.

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

/// Longer lists and lines of an untrusted file are cut.
const SHOWN_ENTRIES: usize = 50;
const SHOWN_CHARACTERS: usize = 200;

/// A directory with a configuration of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) directory: PathBuf,
    /// Its `.onetool`.
    pub(crate) state: PathBuf,
    pub(crate) config: PathBuf,
}

/// What the user says about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Trusted,
    /// Nobody has trusted it.
    Unknown,
    /// It was trusted, and these files have changed since.
    Changed(Vec<String>),
}

/// A project whose configuration is not used.
pub(crate) struct Untrusted {
    pub(crate) project: Project,
    verdict: Verdict,
    /// What it would start, or why that cannot be told.
    pub(crate) outline: Result<Outline, CliError>,
}

/// The projects that the user trusts.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    /// Where the records are; without a home directory there are none.
    directory: Option<PathBuf>,
}

/// The files of a project by name, each with its hash.
type Files = BTreeMap<String, String>;

impl TrustStore {
    /// Keeps records in the state directory of the user's home.
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self { directory: state.map(|it| it.join("trust")) }
    }

    /// Returns whether a project is unchanged since the user trusted it.
    pub(crate) fn verdict(&self, project: &Project, outline: &Outline) -> Verdict {
        let Some(trusted) = self.read(&project.directory) else { return Verdict::Unknown };
        let files = files_of(project, outline);
        let names = trusted.keys().chain(files.keys());
        let mut changed: Vec<String> =
            names.filter(|name| trusted.get(*name) != files.get(*name)).cloned().collect();
        changed.sort();
        changed.dedup();
        if changed.is_empty() { Verdict::Trusted } else { Verdict::Changed(changed) }
    }

    /// Trusts a project as it is now.
    pub(crate) fn trust(&self, project: &Project, outline: &Outline) -> Result<(), CliError> {
        self.write(&project.directory, &files_of(project, outline))
    }

    /// Notes a token that onetool itself has made in a trusted project.
    pub(crate) fn add_token(&self, state: &Path) -> Result<(), CliError> {
        let Some(directory) = state.parent() else { return Ok(()) };
        let Some(mut files) = self.read(directory) else { return Ok(()) };
        files.extend(hashed(directory, &token_of(state)));
        self.write(directory, &files)
    }

    /// Takes trust away; tells whether there was any.
    pub(crate) fn revoke(&self, directory: &Path) -> Result<bool, CliError> {
        let Some(record) = self.record(directory) else { return Ok(false) };
        match fs::remove_file(&record) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(CliError::failed(format!("cannot remove '{}': {error}", shown_path(&record)))),
        }
    }

    /// Returns the directories that are trusted.
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

    /// Returns the file that holds the record of a directory; its name is a hash of the directory's.
    fn record(&self, directory: &Path) -> Option<PathBuf> {
        let name = LoadedFile::new(directory, directory.as_os_str().as_bytes()).digest.to_string();
        self.directory.as_ref().map(|it| it.join(name))
    }

    fn read(&self, directory: &Path) -> Option<Files> {
        let record: Value = serde_json::from_slice(&fs::read(self.record(directory)?).ok()?).ok()?;
        let files = record["files"].as_object()?.iter();
        files.map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect()
    }

    fn write(&self, directory: &Path, files: &Files) -> Result<(), CliError> {
        let Some(record) = self.record(directory) else {
            let no_home = CliError::failed("cannot save trust: no home directory");
            return Err(no_home.hinted("set HOME, or use `--trust` with every command"));
        };
        let text = json!({"directory": directory.to_string_lossy(), "files": files});
        write_whole(&record, &format!("{text:#}\n"))
            .map_err(|error| CliError::failed(format!("cannot write '{}': {error}", shown_path(&record))))
    }
}

/// Writes beside the name and moves into place: nobody ever reads half a record.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
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

/// Returns every file that decides what runs in a project, and who gets in.
fn files_of(project: &Project, outline: &Outline) -> Files {
    let token = token_of(&project.state);
    let files: Vec<LoadedFile> =
        outline.files.iter().chain(&outline.further_files).chain(&token).cloned().collect();
    hashed(&project.directory, &files)
}

fn token_of(state: &Path) -> Vec<LoadedFile> {
    let path = state.join(token::FILE);
    fs::read(&path).map(|bytes| LoadedFile::new(&path, &bytes)).into_iter().collect()
}

fn hashed(directory: &Path, files: &[LoadedFile]) -> Files {
    let name = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
    files.iter().map(|it| (name(&it.path), it.digest.to_string())).collect()
}

impl Untrusted {
    pub(crate) fn new(project: Project, verdict: Verdict, outline: Result<Outline, CliError>) -> Self {
        Self { project, verdict, outline }
    }

    /// Says in one line what is not used, and why.
    pub(crate) fn summary(&self) -> String {
        let file = shown_path(&self.project.config);
        match (&self.verdict, &self.outline) {
            (_, Err(error)) => format!("{file} is not trusted and cannot be read: {}", error.message()),
            (Verdict::Changed(_), _) => format!("{file} is not used: it has changed since it was trusted"),
            _ => format!("{file} is not used: it has not been trusted"),
        }
    }

    /// Returns the command that trusts it.
    pub(crate) fn command(&self) -> String {
        format!("onetool trust {}", quoted(&shown_path(&self.project.directory)))
    }

    /// Says what is missing to a model. Nothing that the file says is repeated: it may be meant for the model.
    pub(crate) fn notice(&self) -> String {
        format!(
            "This server runs without the configuration of its project, {}, because the user has not trusted it. \
             Ask the user to look at it and to run `{}` in a terminal, then to restart this server.",
            shown_path(&self.project.config),
            self.command()
        )
    }

    /// Lists the changed files and what the configuration would start. The text comes from the untrusted files.
    pub(crate) fn details(&self) -> String {
        let changed = match &self.verdict {
            Verdict::Changed(files) => {
                let files: Vec<String> = files.iter().map(|it| shown(it)).collect();
                format!("\nChanged: {}", files.join(", "))
            }
            _ => String::new(),
        };
        let outline = self.outline.as_ref().map_or_else(|_| String::new(), listing);
        format!("{changed}{outline}")
    }

    /// Makes the error of a command that needs it.
    pub(crate) fn into_error(self) -> CliError {
        let error = CliError::failed(self.summary()).with_details(self.details());
        error.hinted(format!("look at it, then run `{}`; `--trust` uses it once", self.command()))
    }
}

/// Lists what a configuration would start and reach, a line each.
pub(crate) fn listing(outline: &Outline) -> String {
    let mut text = String::from("\nIt would start or reach:");
    // Writing to a String cannot fail.
    for line in lines(outline) {
        let _ = write!(text, "\n  {line}");
    }
    let left_out = outline.entries.len().saturating_sub(SHOWN_ENTRIES);
    if left_out > 0 {
        let _ = write!(text, "\n  … and {left_out} more");
    }
    if outline.entries.is_empty() { String::new() } else { text }
}

/// Returns the first entries as lines that can be shown on a terminal.
pub(crate) fn lines(outline: &Outline) -> impl Iterator<Item = String> {
    let line = |it: &OutlineEntry| format!("{}: {}", shown(&it.key), shown(&it.what));
    outline.entries.iter().take(SHOWN_ENTRIES).map(line)
}

/// Writes a word so that a shell reads it as it is.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | ',');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

pub(crate) fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// Makes a text of an untrusted file fit for a terminal: no control characters, nothing that changes direction or does not
/// show, and not endless.
fn shown(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == SHOWN_CHARACTERS {
            shown.push('…');
            break;
        }
        if c.is_control() || is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h2_what_an_untrusted_file_says_cannot_steer_a_terminal() {
        assert_eq!(shown("a\u{1b}[2Jb\u{202e}c\nd é"), "a\\u{1b}[2Jb\\u{202e}c\\u{a}d é");
        assert_eq!((quoted("/a/b-c").as_str(), quoted("/a b/it's").as_str()), ("/a/b-c", r"'/a b/it'\''s'"));
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), SHOWN_CHARACTERS + 1);
    }
}
