//! `file.write`, `file.edit` and `file.delete`. Every change is atomic.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use memchr::memmem;
use onetool_core::{Json, random};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, fchmod, mkdirat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileError;
use crate::blocking::Stop;
use crate::roots::{PathError, Place, Roots};

/// Maximum size of a file to edit.
const MAX_EDITED: u64 = 16 * 1024 * 1024;
const NEW_FILE_MODE: u32 = 0o644;
const TRASH_MODE: u32 = 0o700;
/// Maximum number of files with the same name in the trash.
const MAX_TRASHED: u32 = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    /// The file, relative to the first root or absolute inside one.
    path: String,
    /// The whole content of the file.
    content: String,
    /// Whether to create missing directories.
    #[serde(default = "yes")]
    make_folders: bool,
}

fn yes() -> bool {
    true
}

pub(super) fn write(roots: &Roots, args: Write, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let (parent, name) = place.open_parent(args.make_folders)?;
    let existing = existing_file(&place, &parent, &name)?;
    replace(&place, &parent, &name, args.content.as_bytes(), existing.as_ref())?;
    let was = if existing.is_some() { "replaced" } else { "created" };
    Ok(Json(json!({"path": place.shown(), "bytes": args.content.len(), "was": was})))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The file, relative to the first root or absolute inside one.
    path: String,
    /// The exact text to replace; it must occur once in the file.
    old: String,
    /// The replacement.
    new: String,
}

pub(super) fn edit(roots: &Roots, args: Edit, _: &Stop) -> Result<Json<Value>, FileError> {
    if args.old.is_empty() {
        return Err(FileError::EmptyOld);
    }
    let place = roots.place(&args.path)?;
    let (parent, name) = place.open_parent(false)?;
    let Some(existing) = existing_file(&place, &parent, &name)? else {
        return Err(PathError::Missing { path: place.shown() }.into());
    };
    let failed = |error: Errno| place.failed("open", error.into());
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(openat(&parent, &name, flags, Mode::empty()).map_err(failed)?);
    let stat = place.stat(&file)?;
    if !is_same(&stat, &existing) {
        return Err(FileError::Changed { path: place.shown() });
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if size > MAX_EDITED {
        return Err(FileError::TooLarge { path: place.shown(), size, max: MAX_EDITED });
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| place.failed("read", error))?;
    let at = find_once(&place, &bytes, args.old.as_bytes())?;
    let mut edited = Vec::with_capacity(bytes.len() + args.new.len());
    edited.extend_from_slice(&bytes[..at]);
    edited.extend_from_slice(args.new.as_bytes());
    edited.extend_from_slice(&bytes[at + args.old.len()..]);
    replace(&place, &parent, &name, &edited, Some(&stat))?;
    Ok(Json(json!({"path": place.shown(), "line": line_number(&bytes, at), "bytes": edited.len()})))
}

/// Finds a text that must occur exactly once.
fn find_once(place: &Place, bytes: &[u8], old: &[u8]) -> Result<usize, FileError> {
    let Some(first) = memmem::find(bytes, old) else {
        return Err(FileError::NotFound { path: place.shown() });
    };
    // Searches from the next byte, to also find a match that overlaps the first one.
    if memmem::find(&bytes[first + 1..], old).is_none() {
        return Ok(first);
    }
    let found: Vec<usize> = memmem::find_iter(bytes, old).collect();
    let lines: Vec<String> = found.iter().take(10).map(|at| line_number(bytes, *at).to_string()).collect();
    let count = found.len().max(2);
    Err(FileError::Ambiguous { path: place.shown(), count, lines: lines.join(", ") })
}

fn line_number(bytes: &[u8], at: usize) -> usize {
    bytes[..at].split(|byte| *byte == b'\n').count()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Delete {
    /// The file or directory, relative to the first root or absolute inside one.
    path: String,
}

pub(super) fn delete(roots: &Roots, args: Delete, trash: &str, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let (parent, name) = place.open_parent(false)?;
    if place.relative().starts_with(trash) {
        return Err(FileError::InTrash { path: place.shown() });
    }
    place.check_removal(&parent, &name)?;
    let trash_place = place.in_same_root(Path::new(trash))?;
    let (root, _) = trash_place.open_parent(false)?;
    trash_place.check_change(&root, OsStr::new(trash), None)?;
    match mkdirat(&root, trash, Mode::from_raw_mode(TRASH_MODE)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(trash_place.failed("create the trash", error.into()).into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(&root, trash, flags, Mode::empty());
    let directory = directory.map_err(|error| trash_place.failed("open the trash", error.into()))?;
    trash_place.check_opened(&directory)?;
    for number in 1..=MAX_TRASHED {
        let mut new_name = name.clone();
        if number > 1 {
            new_name.push(format!("~{number}"));
        }
        match renameat_with(&parent, &name, &directory, &new_name, RenameFlags::NOREPLACE) {
            Ok(()) => {
                let shown = Path::new(trash).join(&new_name).display().to_string();
                return Ok(Json(json!({"path": place.shown(), "trash": shown})));
            }
            Err(Errno::EXIST) => {}
            Err(Errno::NOENT) => return Err(PathError::Missing { path: place.shown() }.into()),
            Err(Errno::XDEV) => return Err(FileError::OtherDevice { path: place.shown() }),
            Err(error) => return Err(place.failed("delete", error.into()).into()),
        }
    }
    Err(place.failed("delete", std::io::Error::other("the trash has too many files with that name")).into())
}

/// Returns the metadata of the file to replace, if it exists. Refuses anything but a regular file that may be changed.
fn existing_file(place: &Place, parent: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, FileError> {
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(place.failed("inspect", error.into()).into()),
    };
    place.check_change(parent, name, stat.as_ref())?;
    let Some(stat) = stat else { return Ok(None) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Some(stat)),
        // Writing would replace the link itself, or a file elsewhere.
        FileType::Symlink => Err(PathError::Link { path: place.shown() }.into()),
        _ => {
            let found = crate::roots::kind(&stat);
            Err(PathError::Kind { path: place.shown(), found, expected: "a file" }.into())
        }
    }
}

/// Writes a new file next to the old one, syncs it to disk, and renames it into place.
fn replace(
    place: &Place,
    parent: &OwnedFd,
    name: &OsStr,
    bytes: &[u8],
    old: Option<&Stat>,
) -> Result<(), FileError> {
    let temporary = format!(".onetool-{:016x}.new", u64::from_ne_bytes(random::bytes()));
    let failed = |error: std::io::Error| place.failed("write", error);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(parent, &temporary, flags, Mode::from_raw_mode(NEW_FILE_MODE));
    let mut file = File::from(opened.map_err(|error| failed(error.into()))?);
    let written = (|| {
        if let Some(old) = old {
            fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    })();
    let renamed = written.map_err(failed).map_err(FileError::from).and_then(|()| {
        // Do not overwrite changes that another program made in the meantime.
        let now = existing_file(place, parent, name)?;
        match (old, now) {
            (None, None) => {}
            (Some(old), Some(now)) if is_same(old, &now) => {}
            _ => return Err(FileError::Changed { path: place.shown() }),
        }
        Ok(renameat(parent, &temporary, parent, name).map_err(|error| failed(error.into()))?)
    });
    if renamed.is_err() {
        // The first error matters more than a failure to clean up.
        let _ = unlinkat(parent, &temporary, AtFlags::empty());
        return renamed;
    }
    // The directory entry must reach the disk too. Some file systems do not support this, which is not an error.
    let _ = rustix::fs::fsync(parent);
    Ok(())
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    let key = |it: &Stat| (it.st_dev, it.st_ino, it.st_size, it.st_mtime, it.st_mtime_nsec);
    key(a) == key(b)
}
