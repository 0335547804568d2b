//! `file.write`, `file.edit` and `file.delete`: every change is whole or does not happen.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use memchr::memmem;
use onetool_core::Json;
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
use onetool_core::random;

/// The largest file that is edited.
const MAX_EDITED: u64 = 16 * 1024 * 1024;
const NEW_FILE_MODE: u32 = 0o644;
const TRASH_MODE: u32 = 0o700;
/// How many files of one name the trash holds.
const MAX_TRASHED: u32 = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    /// The file, relative to the first root or absolute inside one.
    path: String,
    /// Everything that it shall hold.
    content: String,
    /// Whether folders that are missing on the way are made.
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
    /// The text to replace, exactly as it stands there; it has to stand there once.
    old: String,
    /// The text to put in its place.
    new: String,
}

pub(super) fn edit(roots: &Roots, args: Edit, _: &Stop) -> Result<Json<Value>, FileError> {
    if args.old.is_empty() {
        return Err(FileError::NothingToFind);
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
    let at = the_one(&place, &bytes, args.old.as_bytes())?;
    let mut edited = Vec::with_capacity(bytes.len() + args.new.len());
    edited.extend_from_slice(&bytes[..at]);
    edited.extend_from_slice(args.new.as_bytes());
    edited.extend_from_slice(&bytes[at + args.old.len()..]);
    replace(&place, &parent, &name, &edited, Some(&stat))?;
    Ok(Json(json!({"path": place.shown(), "line": line_of(&bytes, at), "bytes": edited.len()})))
}

/// Finds the one place where a text stands.
fn the_one(place: &Place, bytes: &[u8], old: &[u8]) -> Result<usize, FileError> {
    let Some(first) = memmem::find(bytes, old) else {
        return Err(FileError::NotFound { path: place.shown() });
    };
    // Looked for from the next byte on, so that one that overlaps the first is seen, too.
    if memmem::find(&bytes[first + 1..], old).is_none() {
        return Ok(first);
    }
    let found: Vec<usize> = memmem::find_iter(bytes, old).collect();
    let lines: Vec<String> = found.iter().take(10).map(|at| line_of(bytes, *at).to_string()).collect();
    let count = found.len().max(2);
    Err(FileError::Ambiguous { path: place.shown(), count, lines: lines.join(", ") })
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].split(|byte| *byte == b'\n').count()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Delete {
    /// The file or folder, relative to the first root or absolute inside one.
    path: String,
}

pub(super) fn delete(roots: &Roots, args: Delete, trash: &str, _: &Stop) -> Result<Json<Value>, FileError> {
    let place = roots.place(&args.path)?;
    let (parent, name) = place.open_parent(false)?;
    if place.inside().starts_with(trash) {
        return Err(FileError::InTrash { path: place.shown() });
    }
    place.check_removal(&parent, &name)?;
    let trash_place = place.beside(Path::new(trash))?;
    let (root, _) = trash_place.open_parent(false)?;
    trash_place.check_change(&root, OsStr::new(trash), None)?;
    match mkdirat(&root, trash, Mode::from_raw_mode(TRASH_MODE)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(trash_place.failed("make the trash", error.into()).into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(&root, trash, flags, Mode::empty());
    let folder = folder.map_err(|error| trash_place.failed("open the trash", error.into()))?;
    trash_place.check_opened(&folder)?;
    for number in 1..=MAX_TRASHED {
        let mut free = name.clone();
        if number > 1 {
            free.push(format!("~{number}"));
        }
        match renameat_with(&parent, &name, &folder, &free, RenameFlags::NOREPLACE) {
            Ok(()) => {
                let shown = Path::new(trash).join(&free).display().to_string();
                return Ok(Json(json!({"path": place.shown(), "trash": shown})));
            }
            Err(Errno::EXIST) => {}
            Err(Errno::NOENT) => return Err(PathError::Missing { path: place.shown() }.into()),
            Err(Errno::XDEV) => return Err(FileError::OtherDevice { path: place.shown() }),
            Err(error) => return Err(place.failed("delete", error.into()).into()),
        }
    }
    Err(place.failed("delete", std::io::Error::other("the trash is full of files of that name")).into())
}

/// Looks at the file that is to be replaced; anything but a file that may be changed is refused.
fn existing_file(place: &Place, parent: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, FileError> {
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(place.failed("look at", error.into()).into()),
    };
    place.check_change(parent, name, stat.as_ref())?;
    let Some(stat) = stat else { return Ok(None) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Some(stat)),
        // To write through a link would replace the link, or something far from here.
        FileType::Symlink => Err(PathError::Link { path: place.shown() }.into()),
        _ => {
            let found = crate::roots::kind(&stat);
            Err(PathError::Kind { path: place.shown(), found, wanted: "a file" }.into())
        }
    }
}

/// Writes a new file beside the old one, makes sure that it is on the disk, and puts it in its place.
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
    let put = written.map_err(failed).map_err(FileError::from).and_then(|()| {
        // What another program has written since we looked must not be lost.
        let now = existing_file(place, parent, name)?;
        match (old, now) {
            (None, None) => {}
            (Some(old), Some(now)) if is_same(old, &now) => {}
            _ => return Err(FileError::Changed { path: place.shown() }),
        }
        Ok(renameat(parent, &temporary, parent, name).map_err(|error| failed(error.into()))?)
    });
    if put.is_err() {
        // What cannot be removed either is the smaller trouble.
        let _ = unlinkat(parent, &temporary, AtFlags::empty());
        return put;
    }
    // The folder's own entry has to be on the disk, too; where a file system cannot do that, it is as good as it gets.
    let _ = rustix::fs::fsync(parent);
    Ok(())
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    let key = |it: &Stat| (it.st_dev, it.st_ino, it.st_size, it.st_mtime, it.st_mtime_nsec);
    key(a) == key(b)
}
