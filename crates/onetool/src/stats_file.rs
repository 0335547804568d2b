//! Writes a statistics report to a path that an agent chose.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use onetool_core::random;
use onetool_packs::ProtectedFiles;
use onetool_store::stats::START;

/// Writes a report to `path` under `root` atomically, readable only by its owner, and returns the full path.
///
/// Each directory of the path is opened relative to its parent without following symlinks, so concurrent changes
/// cannot lead outside `root`. This blocks on disk I/O.
///
/// # Errors
/// If the path leaves `root`, cannot be written, or names an existing file that is not a report.
pub(crate) fn write_report(
    root: &Path,
    path: &str,
    html: &str,
    protected: &ProtectedFiles,
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
    let allowed =
        protected.check(&folder).and_then(|()| protected.check_change(&folder, name, stat.as_ref()));
    allowed.map_err(|refused| failed(io::Error::other(refused)))?;
    match existing(&folder, name).map_err(failed)? {
        Existing::Nothing | Existing::Report => {}
        Existing::Link => return Err(outside()),
        Existing::Other => {
            return Err(failed(io::Error::other("a file that is not a report already exists there")));
        }
    }
    write_new(&folder, name, html).map_err(failed)?;
    Ok(root.join(inside))
}

/// Returns `path` relative to `root`, if it is lexically inside `root`.
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
        // Opening a symlink as a directory fails with ENOTDIR; report it as a link instead.
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

/// Checks what exists under the name: only a report or an empty file may be replaced.
fn existing(folder: &OwnedFd, name: &OsStr) -> io::Result<Existing> {
    if is_link(folder, name) {
        return Ok(Existing::Link);
    }
    // Nonblocking, because opening a FIFO would block until it has a writer.
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

/// Writes to a temporary file and renames it, so that readers never see a partial report.
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

/// Why a report was not written. No partial file is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// The path leaves the root directory.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Outside {
        /// The path.
        path: String,
    },
    /// The file cannot be written.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Io {
        /// The path.
        path: String,
        /// The cause. It is part of the message, whose wording the requirements fix.
        error: io::Error,
    },
}

impl WriteError {
    /// Returns the reason without the path.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Outside { .. } => {
                "it must be inside the working directory, with no symlink on the way".into()
            }
            Self::Io { error, .. } => error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
