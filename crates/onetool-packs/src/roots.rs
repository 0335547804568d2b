//! Folders that tools can reach, and nothing outside of them.
//!
//! Every path is resolved by the kernel (`openat2` with `RESOLVE_BENEATH`) at the moment it is opened, and all work is
//! done on what was opened. There is no moment between a check and a use in which a link could be put in the way.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use onetool_config::{ConfigError, FilePath, Section};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat2};
use rustix::io::Errno;

use crate::own_files::path_of;
use crate::own_files::{ClosedFiles, ClosedReason, OwnFiles};

/// How often a path is tried that others rename while the kernel walks it.
const TRIES: usize = 16;
const FOLDER_MODE: u32 = 0o755;

/// Checks that every root is a directory.
pub(crate) fn check_roots(roots: &[FilePath], section: &Section<'_>) -> Result<(), ConfigError> {
    match roots.iter().enumerate().find(|(_, root)| !root.is_dir()) {
        Some((index, root)) => {
            Err(section.item(index).invalid(format!("{} is not a directory", root.display())))
        }
        None => Ok(()),
    }
}

/// Returns whether every one of `these` is among `those`.
pub(crate) fn are_among(these: &[FilePath], those: &[FilePath]) -> bool {
    these.iter().all(|it| those.contains(it))
}

/// The folders, of which the first is where relative paths begin. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Roots {
    roots: Arc<Vec<Root>>,
    /// What stays closed inside of them.
    own: OwnFiles,
}

struct Root {
    /// As the configuration names it.
    path: PathBuf,
    /// The same without links, if it differs.
    real: Option<PathBuf>,
}

impl Root {
    /// Returns it without the detours that the configuration may take.
    fn shown(&self) -> String {
        self.real.as_ref().unwrap_or(&self.path).display().to_string()
    }
}

/// A path of a caller inside an opened root.
pub(crate) struct Place {
    root: OwnedFd,
    /// The root as callers see it.
    root_shown: String,
    /// The path from the root; empty for the root itself.
    inside: PathBuf,
    closed: Arc<ClosedFiles>,
}

/// A path that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathError {
    #[error(
        "'{path}' leads out of the folders that this pack can reach ({roots}); use a path inside of them"
    )]
    Outside { path: String, roots: String },
    #[error("there is no '{path}'; file.list shows what a folder holds")]
    Missing { path: String },
    #[error("'{path}' is {found}, not {wanted}")]
    Kind { path: String, found: &'static str, wanted: &'static str },
    #[error("'{path}' is a link; use the path that it leads to")]
    Link { path: String },
    #[error("'{path}' names nothing inside the folder that this pack works in")]
    Root { path: String },
    #[error("'{path}' is out of reach")]
    Closed { path: String, source: ClosedReason },
    #[error("this system cannot confine paths: Linux 5.6 or newer is needed")]
    Kernel,
    #[error("cannot {what} '{path}'")]
    Io { what: &'static str, path: String, source: io::Error },
}

impl Roots {
    pub(crate) fn new(paths: &[FilePath], own: OwnFiles) -> Self {
        let root = |path: &FilePath| Root {
            path: path.to_path_buf(),
            real: path.canonicalize().ok().filter(|real| **real != **path),
        };
        Self { roots: Arc::new(paths.iter().map(root).collect()), own }
    }

    /// Finds the root that a path lies in, as the path is written; the kernel says later whether it really does.
    pub(crate) fn place(&self, path: &str) -> Result<Place, PathError> {
        let outside = || PathError::Outside { path: path.to_owned(), roots: self.listed() };
        if path.contains('\0') {
            return Err(outside());
        }
        let wanted = Path::new(if path.is_empty() { "." } else { path });
        let (root, inside) = if wanted.is_absolute() {
            let inside = |root: &Root| {
                let real = root.real.as_deref();
                wanted
                    .strip_prefix(&root.path)
                    .ok()
                    .or_else(|| wanted.strip_prefix(real?).ok())
                    .map(Path::to_owned)
            };
            self.roots.iter().find_map(|root| Some((root, inside(root)?))).ok_or_else(outside)?
        } else {
            (self.roots.first().ok_or_else(outside)?, wanted.to_owned())
        };
        let opened =
            rustix::fs::open(&root.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let failed = |error: Errno| PathError::Io {
            what: "open the folder",
            path: root.shown(),
            source: error.into(),
        };
        let (opened, closed) = (opened.map_err(failed)?, Arc::new(self.own.look()));
        closed.check(&opened).map_err(|source| PathError::Closed { path: root.shown(), source })?;
        let inside = inside.components().filter(|it| *it != Component::CurDir).collect();
        Ok(Place { root: opened, root_shown: root.shown(), inside, closed })
    }

    fn listed(&self) -> String {
        self.roots.iter().map(Root::shown).collect::<Vec<_>>().join(", ")
    }
}

impl Place {
    /// Returns the path as callers see it: from the root, `.` for the root itself.
    pub(crate) fn shown(&self) -> String {
        if self.inside.as_os_str().is_empty() { ".".into() } else { self.inside.display().to_string() }
    }

    /// Returns the root and the path in it without any links, for those who have to go by names; what they find has to
    /// be opened with [`Place::open_exactly`].
    pub(crate) fn without_links(&self) -> Result<(PathBuf, PathBuf), PathError> {
        let name = |opened: &OwnedFd| {
            path_of(opened).ok_or_else(|| self.failed("find", io::ErrorKind::NotFound.into()))
        };
        let (root, path) = (name(&self.root)?, name(&self.open(OFlags::PATH)?)?);
        let outside = |_| PathError::Outside { path: self.shown(), roots: self.root_shown.clone() };
        let inside = path.strip_prefix(&root).map(Path::to_owned).map_err(outside)?;
        Ok((root, inside))
    }

    /// Returns the place of a path from the same root.
    pub(crate) fn beside(&self, inside: &Path) -> Result<Self, PathError> {
        let root = self.root.try_clone().map_err(|source| self.failed("open", source))?;
        let (root_shown, closed) = (self.root_shown.clone(), self.closed.clone());
        Ok(Self { root, root_shown, inside: inside.to_owned(), closed })
    }

    /// Tells whether it is the root itself.
    pub(crate) fn is_root(&self) -> bool {
        self.inside.as_os_str().is_empty()
    }

    /// Returns the path from the root.
    pub(crate) fn inside(&self) -> &Path {
        &self.inside
    }

    /// Opens what is there, wherever links inside the root lead.
    pub(crate) fn open(&self, flags: OFlags) -> Result<OwnedFd, PathError> {
        self.open_at(&self.inside, flags, ResolveFlags::empty())
    }

    /// Opens a file to be read. What is no file (a pipe, a device, a folder) is refused, and nothing waits for it.
    pub(crate) fn open_file(&self) -> Result<(File, Stat), PathError> {
        // Looked at before it is opened: to open a device may already do something.
        self.expect_file(&self.open(OFlags::PATH)?)?;
        let opened = self.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = self.expect_file(&opened)?;
        Ok((File::from(opened), stat))
    }

    /// Opens a folder to be listed.
    pub(crate) fn open_folder(&self) -> Result<OwnedFd, PathError> {
        let stat = self.stat(&self.open(OFlags::PATH)?)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            let found = kind(&stat);
            return Err(PathError::Kind { path: self.shown(), found, wanted: "a folder" });
        }
        self.open(OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens the folder that holds it, made with all above it if `make` says so, and returns its name in there.
    pub(crate) fn open_parent(&self, make: bool) -> Result<(OwnedFd, OsString), PathError> {
        let Some(name) = self.inside.file_name().map(OsStr::to_owned) else {
            return Err(PathError::Root { path: self.shown() });
        };
        let parent = self.inside.parent().unwrap_or(Path::new(""));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.open_at(parent, flags, ResolveFlags::empty()) {
            Err(PathError::Missing { .. }) if make => {
                self.make_folders(parent)?;
                Ok((self.open_at(parent, flags, ResolveFlags::empty())?, name))
            }
            Err(PathError::Missing { .. }) => Err(PathError::Missing { path: parent.display().to_string() }),
            opened => Ok((opened?, name)),
        }
    }

    fn make_folders(&self, folder: &Path) -> Result<(), PathError> {
        let mut made = PathBuf::new();
        for component in folder.components() {
            let above = self.open_at(&made, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::empty())?;
            made.push(component);
            let Component::Normal(name) = component else { continue };
            self.check_change(&above, name, None)?;
            match mkdirat(&above, name, Mode::from_raw_mode(FOLDER_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed("make the folder of", error.into())),
            }
        }
        Ok(())
    }

    /// Opens a path from the root through no link at all.
    pub(crate) fn open_exactly(&self, inside: &Path) -> Result<File, PathError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = self.open_at(inside, flags, ResolveFlags::NO_SYMLINKS)?;
        self.expect_file(&opened)?;
        Ok(File::from(opened))
    }

    fn open_at(&self, inside: &Path, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd, PathError> {
        let path = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
        let mut tries = 0;
        loop {
            tries += 1;
            match openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Ok(opened) => {
                    self.closed.check(&opened).map_err(|source| self.closed(source))?;
                    return Ok(opened);
                }
                // The kernel could not tell whether a rename led outside meanwhile.
                Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => {}
                Err(error) => return Err(self.refused(error)),
            }
        }
    }

    /// Refuses to put something under a name in a folder that has been opened; `existing` is what has the name now.
    pub(crate) fn check_change(
        &self,
        folder: &OwnedFd,
        name: &OsStr,
        existing: Option<&Stat>,
    ) -> Result<(), PathError> {
        self.closed.check_change(folder, name, existing).map_err(|source| self.closed(source))
    }

    /// Refuses to take away what has a name in a folder that has been opened.
    pub(crate) fn check_removal(&self, folder: &OwnedFd, name: &OsStr) -> Result<(), PathError> {
        self.closed.check_removal(folder, name).map_err(|source| self.closed(source))
    }

    /// Refuses what was opened without this place's own ways.
    pub(crate) fn check_opened(&self, opened: &impl AsFd) -> Result<(), PathError> {
        self.closed.check(opened).map_err(|source| self.closed(source))
    }

    /// Returns which files are closed, for a walk that goes by names.
    pub(crate) fn closed_files(&self) -> Arc<ClosedFiles> {
        self.closed.clone()
    }

    /// Tells whether something that a walk came by is closed.
    pub(crate) fn is_closed(&self, stat: &Stat) -> bool {
        self.closed.check_stat(stat).is_err()
    }

    fn closed(&self, source: ClosedReason) -> PathError {
        PathError::Closed { path: self.shown(), source }
    }

    fn refused(&self, error: Errno) -> PathError {
        let path = self.shown();
        match error {
            Errno::XDEV => PathError::Outside { path, roots: self.root_shown.clone() },
            Errno::NOENT => PathError::Missing { path },
            Errno::NOSYS => PathError::Kernel,
            error => self.failed("open", error.into()),
        }
    }

    fn expect_file(&self, opened: &OwnedFd) -> Result<Stat, PathError> {
        let stat = self.stat(opened)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            return Ok(stat);
        }
        Err(PathError::Kind { path: self.shown(), found: kind(&stat), wanted: "a file" })
    }

    pub(crate) fn stat(&self, opened: &impl AsFd) -> Result<Stat, PathError> {
        fstat(opened).map_err(|error| self.failed("look at", error.into()))
    }

    pub(crate) fn failed(&self, what: &'static str, source: io::Error) -> PathError {
        PathError::Io { what, path: self.shown(), source }
    }
}

/// Says in words what kind of thing it is.
pub(crate) fn kind(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}
