//! Writing a report to a path that an agent chose.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use onetool_core::random;
use onetool_packs::ProtectedFiles;
use onetool_store::stats::START;

/// Writes a report to `path` under `root`, whole or not at all, readable by its owner alone; returns where it is.
///
/// Each folder on the way is opened from the one before it and never through a link, so nothing that changes
/// meanwhile can lead outside. This waits for the disk: call it where that is allowed.
///
/// # Errors
/// When the path leads out of `root`, cannot be written, or names a file that is something else than a report.
pub(crate) fn write_report(
    root: &Path,
    path: &str,
    html: &str,
    closed: &ProtectedFiles,
) -> Result<PathBuf, WriteError> {
    let outside = || WriteError::Outside { path: path.to_owned() };
    let failed = |error: io::Error| WriteError::Io { path: path.to_owned(), error };
    let inside = relative(root, Path::new(path)).ok_or_else(outside)?;
    let (Some(folder), Some(name)) = (inside.parent(), inside.file_name()) else {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    };
    if path.ends_with('/') {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let folder = open_folder(root, folder).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => outside(),
        _ => failed(error),
    })?;
    let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let is_open = closed.check(&folder).and_then(|()| closed.check_change(&folder, name, stat.as_ref()));
    is_open.map_err(|refused| failed(io::Error::other(refused)))?;
    match existing(&folder, name).map_err(failed)? {
        Existing::Nothing | Existing::Report => {}
        Existing::Link => return Err(outside()),
        Existing::Other => return Err(failed(io::Error::other("another file is there already"))),
    }
    write_new(&folder, name, html).map_err(failed)?;
    Ok(root.join(inside))
}

/// Returns `path` as seen from `root`, if it stays inside as it is written.
fn relative(root: &Path, path: &Path) -> Option<PathBuf> {
    let path = if path.is_absolute() {
        let real = root.canonicalize().ok();
        path.strip_prefix(root).ok().or_else(|| path.strip_prefix(real?).ok())?
    } else {
        path
    };
    let mut inside = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

fn open_folder(root: &Path, folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut open = rustix::fs::open(root, flags, Mode::empty())?;
    for name in folder {
        open = open_inside(&open, name, flags)?;
    }
    Ok(open)
}

fn open_inside(folder: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    match rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
        // A link that is asked for as a folder is "not a folder" to the system; to people it is a link.
        Err(rustix::io::Errno::NOTDIR) if is_link(folder, name) => Err(rustix::io::Errno::LOOP.into()),
        opened => Ok(opened?),
    }
}

enum Existing {
    Nothing,
    Report,
    Link,
    Other,
}

/// Tells what is there already: only a report, or an empty file, may be replaced by one.
fn existing(folder: &OwnedFd, name: &OsStr) -> io::Result<Existing> {
    if is_link(folder, name) {
        return Ok(Existing::Link);
    }
    // Without waiting: a pipe there would never open.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(Existing::Nothing),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut start = Vec::new();
    file.take(START.len() as u64).read_to_end(&mut start)?;
    let is_report = start.is_empty() || start == START.as_bytes();
    Ok(if is_report { Existing::Report } else { Existing::Other })
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink())
}

/// Writes beside the name and moves into place: nobody ever reads half a report.
fn write_new(folder: &OwnedFd, name: &OsStr, text: &str) -> io::Result<()> {
    let new = format!(".onetool-{:016x}.new", u64::from_ne_bytes(random::bytes()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, &new, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| Ok(rustix::fs::renameat(folder, &new, folder, name)?));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(folder, &new, AtFlags::empty());
    }
    written
}

/// Why a report was not written; nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// The path leads out of the folder that it has to stay in.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Outside {
        /// The path.
        path: String,
    },
    /// The file system refused.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Io {
        /// The path.
        path: String,
        /// Why; it is part of the text, which is fixed.
        error: io::Error,
    },
}

impl WriteError {
    /// Returns what is wrong with the path, without the path.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Outside { .. } => "it has to be inside the working directory, and not behind a link".into(),
            Self::Io { error, .. } => error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
