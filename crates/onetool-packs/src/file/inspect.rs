//! `file.list`, `file.tree`, `file.search` and `file.info`: what is there, without reading it.

use std::fmt::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use onetool_core::Json;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileError;
use crate::blocking::Stop;
use crate::roots::{Place, Roots, kind};
use onetool_core::clock::Timestamp;

/// Deeper folders are not looked into: every level holds a descriptor.
const MAX_DEPTH: usize = 64;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// The folder; the first root if not given.
    #[serde(default)]
    path: String,
    /// Whether names that begin with a dot are shown, too.
    #[serde(default)]
    hidden: bool,
    /// The most entries to show.
    #[serde(default = "default_entries")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
}

fn default_entries() -> usize {
    1000
}

pub(super) fn list(roots: &Roots, args: List, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let folder = place.open_folder()?;
    let names = names(&place, &folder, args.hidden)?;
    let total = names.len();
    let entry = |name: &String| {
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let mut entry = json!({"name": name, "kind": word(&stat), "modified": modified(&stat)});
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
    /// The folder; the first root if not given.
    #[serde(default)]
    path: String,
    /// How many levels to show.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1, max = 64))]
    depth: usize,
    /// The most lines to show.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
    /// Whether names that begin with a dot are shown, too.
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
    let folder = place.open_folder()?;
    let mut text = format!("{}/\n", place.shown().trim_end_matches('/'));
    let (mut lines, mut left_out) = (0, 0);
    let depth = args.depth.min(MAX_DEPTH);
    walk(&place, folder, args.hidden, depth, &mut |path, kind| {
        if lines == args.limit {
            left_out += 1;
            return Step::Over;
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
        if stop.is_set() { Step::End } else { Step::Into }
    })?;
    if left_out > 0 {
        let _ = writeln!(text, "({left_out} more entries; look at a folder of them, or raise limit)");
    }
    Ok(text)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// A glob over the path seen from the folder: `*` is any part of a name, `**` any folders. One without `/` is
    /// looked for at any depth.
    pattern: String,
    /// The folder to begin with; the first root if not given.
    #[serde(default)]
    path: String,
    /// The most paths to give.
    #[serde(default = "default_found")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
    /// Whether names that begin with a dot are looked at, too.
    #[serde(default)]
    hidden: bool,
}

fn default_found() -> usize {
    200
}

pub(super) fn search(roots: &Roots, args: Search, stop: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let glob = glob(&args.pattern)?;
    let folder = place.open_folder()?;
    let (mut found, mut is_more) = (Vec::new(), false);
    walk(&place, folder, args.hidden, MAX_DEPTH, &mut |path, _| {
        if glob.is_match(path) {
            if found.len() == args.limit {
                is_more = true;
                return Step::End;
            }
            found.push(place.inside().join(path).display().to_string());
        }
        if stop.is_set() { Step::End } else { Step::Into }
    })?;
    let mut data = json!({"paths": found});
    if is_more {
        data["truncated"] = true.into();
    }
    Ok(Json(data))
}

/// Compiles a glob; one that names no folder is looked for in all of them.
fn glob(pattern: &str) -> Result<GlobMatcher, FileError> {
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build();
    let wrong = |source| FileError::Pattern { pattern: pattern.to_owned(), source };
    Ok(glob.map_err(wrong)?.compile_matcher())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Info {
    /// The file or folder.
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
            rustix::io::Errno::NOENT => crate::roots::PathError::Missing { path: place.shown() },
            error => place.failed("look at", error.into()),
        })?;
        place.check_opened(&opened)?;
        place.stat(&opened)?
    };
    let mut data = json!({
        "path": place.shown(),
        "kind": word(&stat),
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

/// What to do after an entry.
enum Step {
    /// Look into it, if it is a folder.
    Into,
    /// Do not.
    Over,
    /// Look at nothing more.
    End,
}

/// Goes through a folder, depth first and sorted by name, from handle to handle and through no link.
fn walk(
    place: &Place,
    folder: OwnedFd,
    hidden: bool,
    depth: usize,
    visit: &mut dyn FnMut(&Path, FileType) -> Step,
) -> Result<(), FileError> {
    let mut open: Vec<(OwnedFd, PathBuf, std::vec::IntoIter<String>)> = Vec::new();
    let first = names(place, &folder, hidden)?.into_iter();
    open.push((folder, PathBuf::new(), first));
    while let Some((folder, path, names_left)) = open.last_mut() {
        let Some(name) = names_left.next() else {
            open.pop();
            continue;
        };
        // What has gone meanwhile is not there.
        let Ok(stat) = statat(&*folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let path = path.join(&name);
        match visit(&path, kind) {
            Step::End => return Ok(()),
            Step::Over => {}
            // Our own folders are shown like any other, but nobody looks into them.
            Step::Into if place.is_closed(&stat) => {}
            Step::Into if kind != FileType::Directory || open.len() >= depth => {}
            Step::Into => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let Some((folder, ..)) = open.last() else { continue };
                // A folder that cannot be opened is shown, and that is all.
                let Ok(inner) = openat(folder, &name, flags, Mode::empty()) else { continue };
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

/// Returns the names in a folder, sorted.
fn names(place: &Place, folder: &impl AsFd, hidden: bool) -> Result<Vec<String>, FileError> {
    let failed = |error: rustix::io::Errno| place.failed("list", error.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." && (hidden || !name.starts_with('.')) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Says the kind in one word.
fn word(stat: &Stat) -> &'static str {
    let kind = kind(stat);
    kind.strip_prefix("a ").unwrap_or(kind)
}

fn modified(stat: &Stat) -> String {
    Timestamp::from_millis(stat.st_mtime.saturating_mul(1000)).to_rfc3339()
}
