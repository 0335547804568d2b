//! `file.list`, `file.tree`, `file.search` and `file.info`, which do not read contents.

use std::fmt::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use onetool_core::Json;
use onetool_core::clock::Timestamp;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileError;
use crate::blocking::Stop;
use crate::roots::{PathError, Place, Roots};

/// Maximum depth of a walk, because every level has an open descriptor.
const MAX_DEPTH: usize = 64;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// The directory. Default: the first root.
    #[serde(default)]
    path: String,
    /// Whether to include names that begin with a dot.
    #[serde(default)]
    hidden: bool,
    /// Maximum number of entries.
    #[serde(default = "default_entries")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
}

fn default_entries() -> usize {
    1000
}

pub(super) fn list(roots: &Roots, args: List, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let directory = place.open_directory()?;
    let names = names(&place, &directory, args.hidden)?;
    let total = names.len();
    let entry = |name: &String| {
        let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let mut entry = json!({"name": name, "kind": kind_word(&stat), "modified": modified(&stat)});
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            entry["size"] = stat.st_size.into();
        }
        Some(entry)
    };
    let entries: Vec<Value> = names.iter().take(args.limit).filter_map(entry).collect();
    let mut data = json!({"path": place.shown(), "entries": entries});
    if total > args.limit {
        data["left_out"] = (total - args.limit).into();
    }
    Ok(Json(data))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tree {
    /// The directory. Default: the first root.
    #[serde(default)]
    path: String,
    /// Number of levels.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1, max = 64))]
    depth: usize,
    /// Maximum number of lines.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
    /// Whether to include names that begin with a dot.
    #[serde(default)]
    hidden: bool,
}

fn default_depth() -> usize {
    3
}

fn default_lines() -> usize {
    500
}

pub(super) fn tree(roots: &Roots, args: Tree, stop: &Stop) -> Result<String, FileError> {
    let place = roots.place(&args.path)?;
    let directory = place.open_directory()?;
    let mut text = format!("{}/\n", place.shown().trim_end_matches('/'));
    let (mut lines, mut omitted) = (0, 0);
    let depth = args.depth.min(MAX_DEPTH);
    walk(&place, directory, args.hidden, depth, &mut |path, kind| {
        if lines == args.limit {
            omitted += 1;
            return Step::Skip;
        }
        lines += 1;
        let indent = "  ".repeat(path.components().count());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mark = match kind {
            FileType::Directory => "/",
            FileType::Symlink => "@",
            _ => "",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{indent}{name}{mark}");
        if stop.is_set() { Step::Stop } else { Step::Enter }
    })?;
    if omitted > 0 {
        let _ = writeln!(text, "({omitted} more entries; list a subdirectory, or raise limit)");
    }
    Ok(text)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// A glob for paths relative to the directory: `*` matches any part of a name, `**` any directories. A glob without
    /// `/` matches names at any depth.
    pattern: String,
    /// The directory to search. Default: the first root.
    #[serde(default)]
    path: String,
    /// Maximum number of paths.
    #[serde(default = "default_found")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
    /// Whether to include names that begin with a dot.
    #[serde(default)]
    hidden: bool,
}

fn default_found() -> usize {
    200
}

pub(super) fn search(roots: &Roots, args: Search, stop: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let glob = glob(&args.pattern)?;
    let directory = place.open_directory()?;
    let (mut found, mut is_truncated) = (Vec::new(), false);
    walk(&place, directory, args.hidden, MAX_DEPTH, &mut |path, _| {
        if glob.is_match(path) {
            if found.len() == args.limit {
                is_truncated = true;
                return Step::Stop;
            }
            found.push(place.relative().join(path).display().to_string());
        }
        if stop.is_set() { Step::Stop } else { Step::Enter }
    })?;
    let mut data = json!({"paths": found});
    if is_truncated {
        data["truncated"] = true.into();
    }
    Ok(Json(data))
}

/// Compiles a glob. One without `/` matches at any depth.
fn glob(pattern: &str) -> Result<GlobMatcher, FileError> {
    let anchored = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(anchored.trim_start_matches("./")).literal_separator(true).build();
    let invalid = |source| FileError::Pattern { pattern: pattern.to_owned(), source };
    Ok(glob.map_err(invalid)?.compile_matcher())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Info {
    /// The file or directory.
    path: String,
}

pub(super) fn info(roots: &Roots, args: Info, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let stat = if place.is_root() {
        place.stat(&place.open(OFlags::PATH)?)?
    } else {
        let (parent, name) = place.open_parent(false)?;
        let opened = openat(&parent, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.map_err(|error| match error {
            Errno::NOENT => PathError::Missing { path: place.shown() },
            error => place.failed("inspect", error.into()),
        })?;
        place.check_opened(&opened)?;
        place.stat(&opened)?
    };
    let mut data = json!({
        "path": place.shown(),
        "kind": kind_word(&stat),
        "size": stat.st_size,
        "modified": modified(&stat),
        "mode": format!("{:o}", stat.st_mode & 0o7777),
    });
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        let (parent, name) = place.open_parent(false)?;
        let target = readlinkat(&parent, &name, Vec::new());
        let target = target.map_err(|error| place.failed("read the link", error.into()))?;
        data["target"] = target.to_string_lossy().into();
        data["leads"] = match place.open(OFlags::PATH) {
            Ok(_) => "inside".into(),
            Err(error) => error.to_string().into(),
        };
    }
    Ok(Json(data))
}

/// How a walk continues after an entry.
enum Step {
    /// Enter the entry if it is a directory.
    Enter,
    /// Do not enter the entry.
    Skip,
    /// End the walk.
    Stop,
}

/// Walks a directory depth first, sorted by name. Opens every directory relative to its parent and follows no links.
fn walk(
    place: &Place,
    directory: OwnedFd,
    hidden: bool,
    depth: usize,
    visit: &mut dyn FnMut(&Path, FileType) -> Step,
) -> Result<(), FileError> {
    let mut open: Vec<(OwnedFd, PathBuf, std::vec::IntoIter<String>)> = Vec::new();
    let first = names(place, &directory, hidden)?.into_iter();
    open.push((directory, PathBuf::new(), first));
    while let Some((directory, path, remaining)) = open.last_mut() {
        let Some(name) = remaining.next() else {
            open.pop();
            continue;
        };
        // The entry may have been removed since the directory was listed.
        let Ok(stat) = statat(&*directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let path = path.join(&name);
        match visit(&path, kind) {
            Step::Stop => return Ok(()),
            Step::Skip => {}
            // onetool's own directories are listed but never entered.
            Step::Enter if place.is_protected(&stat) => {}
            Step::Enter if kind != FileType::Directory || open.len() >= depth => {}
            Step::Enter => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let Some((directory, ..)) = open.last() else { continue };
                // A directory that cannot be opened is only listed.
                let Ok(inner) = openat(directory, &name, flags, Mode::empty()) else { continue };
                if place.check_opened(&inner).is_err() {
                    continue;
                }
                let Ok(inner_names) = names(place, &inner, hidden) else { continue };
                open.push((inner, path, inner_names.into_iter()));
            }
        }
    }
    Ok(())
}

/// Returns the names in a directory, sorted.
fn names(place: &Place, directory: &impl AsFd, hidden: bool) -> Result<Vec<String>, FileError> {
    let failed = |error: Errno| place.failed("list", error.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." && (hidden || !name.starts_with('.')) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the kind of a file as in results.
fn kind_word(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "file",
        FileType::Directory => "folder",
        FileType::Symlink => "link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "unknown",
    }
}

fn modified(stat: &Stat) -> String {
    Timestamp::from_millis(stat.st_mtime.saturating_mul(1000)).to_rfc3339()
}
