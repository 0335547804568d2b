//! Confines tools to configured directories.
//!
//! The kernel resolves every path when it is opened (`openat2` with `RESOLVE_BENEATH`), and tools use only the opened
//! descriptor. So there is no time between check and use in which a link could be swapped in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use onetool_config::{ConfigError, FilePath, Section};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat2};
use rustix::io::Errno;

use crate::own_files::{OwnFiles, ProtectedFiles, ProtectedReason, current_path};

/// Maximum number of attempts to open a path that others rename while the kernel resolves it.
const MAX_ATTEMPTS: usize = 16;
const DIRECTORY_MODE: u32 = 0o755;

/// Checks that every root is a directory.
pub(crate) fn check_roots(roots: &[FilePath], section: &Section<'_>) -> Result<(), ConfigError> {
    match roots.iter().enumerate().find(|(_, root)| !root.is_dir()) {
        Some((index, root)) => {
            Err(section.item(index).invalid(format!("{} is not a directory", root.display())))
        }
        None => Ok(()),
    }
}

/// Returns whether `roots` contains all of `subset`.
pub(crate) fn is_subset(subset: &[FilePath], roots: &[FilePath]) -> bool {
    subset.iter().all(|it| roots.contains(it))
}

/// The directories. Relative paths start at the first one. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Roots {
    roots: Arc<Vec<Root>>,
    /// Files that are protected even inside the roots.
    own: OwnFiles,
}

struct Root {
    /// The path in the configuration.
    path: PathBuf,
    /// The path with links resolved, if it differs.
    real: Option<PathBuf>,
}

impl Root {
    /// Returns the path for messages, with links resolved.
    fn shown(&self) -> String {
        self.real.as_ref().unwrap_or(&self.path).display().to_string()
    }
}

/// A caller's path inside an opened root.
pub(crate) struct Place {
    root: OwnedFd,
    /// The root as shown in messages.
    root_shown: String,
    /// The path relative to the root; empty for the root itself.
    relative: PathBuf,
    protected: Arc<ProtectedFiles>,
}

/// A path that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathError {
    #[error("'{path}' is outside the directories that this pack can access ({roots})")]
    Outside { path: String, roots: String },
    #[error("'{path}' does not exist; file.list shows the contents of a directory")]
    Missing { path: String },
    #[error("'{path}' is {found}, not {expected}")]
    Kind { path: String, found: &'static str, expected: &'static str },
    #[error("'{path}' is a link; use the path of its target")]
    Link { path: String },
    #[error("'{path}' is not a path inside a root")]
    Root { path: String },
    #[error("'{path}' cannot be accessed")]
    Protected { path: String, source: ProtectedReason },
    #[error("this system cannot confine paths; Linux 5.6 or later is required")]
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

    /// Finds the root of a path from its text. The kernel checks later whether the path really is inside the root.
    pub(crate) fn place(&self, path: &str) -> Result<Place, PathError> {
        let outside = || PathError::Outside { path: path.to_owned(), roots: self.listed() };
        if path.contains('\0') {
            return Err(outside());
        }
        let requested = Path::new(if path.is_empty() { "." } else { path });
        let (root, relative) = if requested.is_absolute() {
            let relative = |root: &Root| {
                let real = root.real.as_deref();
                requested
                    .strip_prefix(&root.path)
                    .ok()
                    .or_else(|| requested.strip_prefix(real?).ok())
                    .map(Path::to_owned)
            };
            self.roots.iter().find_map(|root| Some((root, relative(root)?))).ok_or_else(outside)?
        } else {
            (self.roots.first().ok_or_else(outside)?, requested.to_owned())
        };
        let opened =
            rustix::fs::open(&root.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let failed = |error: Errno| PathError::Io {
            what: "open the directory",
            path: root.shown(),
            source: error.into(),
        };
        let (opened, protected) = (opened.map_err(failed)?, Arc::new(self.own.resolve()));
        protected.check(&opened).map_err(|source| PathError::Protected { path: root.shown(), source })?;
        let relative = relative.components().filter(|it| *it != Component::CurDir).collect();
        Ok(Place { root: opened, root_shown: root.shown(), relative, protected })
    }

    fn listed(&self) -> String {
        self.roots.iter().map(Root::shown).collect::<Vec<_>>().join(", ")
    }
}

impl Place {
    /// Returns the path for messages and results: relative to the root, `.` for the root itself.
    pub(crate) fn shown(&self) -> String {
        if self.relative.as_os_str().is_empty() { ".".into() } else { self.relative.display().to_string() }
    }

    /// Returns the root and the path relative to it with links resolved, for code that needs names. Files found that
    /// way must be opened with [`Place::open_without_links`].
    pub(crate) fn without_links(&self) -> Result<(PathBuf, PathBuf), PathError> {
        let path = |opened: &OwnedFd| {
            current_path(opened).ok_or_else(|| self.failed("find", io::ErrorKind::NotFound.into()))
        };
        let (root, path) = (path(&self.root)?, path(&self.open(OFlags::PATH)?)?);
        let outside = |_| PathError::Outside { path: self.shown(), roots: self.root_shown.clone() };
        let relative = path.strip_prefix(&root).map(Path::to_owned).map_err(outside)?;
        Ok((root, relative))
    }

    /// Returns the place of another path in the same root.
    pub(crate) fn in_same_root(&self, relative: &Path) -> Result<Self, PathError> {
        let root = self.root.try_clone().map_err(|source| self.failed("open", source))?;
        let (root_shown, protected) = (self.root_shown.clone(), self.protected.clone());
        Ok(Self { root, root_shown, relative: relative.to_owned(), protected })
    }

    /// Returns whether this is the root itself.
    pub(crate) fn is_root(&self) -> bool {
        self.relative.as_os_str().is_empty()
    }

    /// Returns the path relative to the root.
    pub(crate) fn relative(&self) -> &Path {
        &self.relative
    }

    /// Opens the path. Links are followed inside the root.
    pub(crate) fn open(&self, flags: OFlags) -> Result<OwnedFd, PathError> {
        self.open_at(&self.relative, flags, ResolveFlags::empty())
    }

    /// Opens a regular file for reading. Refuses everything else (pipes, devices, directories) without blocking.
    pub(crate) fn open_file(&self) -> Result<(File, Stat), PathError> {
        // Checked before it is opened, because opening a device may have side effects.
        self.expect_file(&self.open(OFlags::PATH)?)?;
        let opened = self.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = self.expect_file(&opened)?;
        Ok((File::from(opened), stat))
    }

    /// Opens a directory for listing.
    pub(crate) fn open_directory(&self) -> Result<OwnedFd, PathError> {
        let stat = self.stat(&self.open(OFlags::PATH)?)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            let found = kind(&stat);
            return Err(PathError::Kind { path: self.shown(), found, expected: "a directory" });
        }
        self.open(OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens the parent directory, and returns it with the name of the entry. Creates missing directories if `create`
    /// is set.
    pub(crate) fn open_parent(&self, create: bool) -> Result<(OwnedFd, OsString), PathError> {
        let Some(name) = self.relative.file_name().map(OsStr::to_owned) else {
            return Err(PathError::Root { path: self.shown() });
        };
        let parent = self.relative.parent().unwrap_or(Path::new(""));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.open_at(parent, flags, ResolveFlags::empty()) {
            Err(PathError::Missing { .. }) if create => {
                self.create_directories(parent)?;
                Ok((self.open_at(parent, flags, ResolveFlags::empty())?, name))
            }
            Err(PathError::Missing { .. }) => Err(PathError::Missing { path: parent.display().to_string() }),
            opened => Ok((opened?, name)),
        }
    }

    fn create_directories(&self, directory: &Path) -> Result<(), PathError> {
        let mut created = PathBuf::new();
        for component in directory.components() {
            let parent = self.open_at(&created, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::empty())?;
            created.push(component);
            let Component::Normal(name) = component else { continue };
            self.check_change(&parent, name, None)?;
            match mkdirat(&parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed("create the directory of", error.into())),
            }
        }
        Ok(())
    }

    /// Opens a file at a path relative to the root that must not contain links.
    pub(crate) fn open_without_links(&self, relative: &Path) -> Result<File, PathError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = self.open_at(relative, flags, ResolveFlags::NO_SYMLINKS)?;
        self.expect_file(&opened)?;
        Ok(File::from(opened))
    }

    fn open_at(&self, relative: &Path, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd, PathError> {
        let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Ok(opened) => {
                    self.check_opened(&opened)?;
                    return Ok(opened);
                }
                // A concurrent rename kept the kernel from deciding whether the path is inside the root.
                Err(Errno::AGAIN | Errno::INTR) if attempts < MAX_ATTEMPTS => {}
                Err(error) => return Err(self.open_error(error)),
            }
        }
    }

    /// Checks the creation or replacement of an entry in an opened directory; `existing` is the current entry.
    pub(crate) fn check_change(
        &self,
        directory: &OwnedFd,
        name: &OsStr,
        existing: Option<&Stat>,
    ) -> Result<(), PathError> {
        self.protected.check_change(directory, name, existing).map_err(|source| self.protected_error(source))
    }

    /// Checks the removal of an entry from an opened directory.
    pub(crate) fn check_removal(&self, directory: &OwnedFd, name: &OsStr) -> Result<(), PathError> {
        self.protected.check_removal(directory, name).map_err(|source| self.protected_error(source))
    }

    /// Checks a file that was opened without the methods of this type.
    pub(crate) fn check_opened(&self, opened: &impl AsFd) -> Result<(), PathError> {
        self.protected.check(opened).map_err(|source| self.protected_error(source))
    }

    /// Returns the protected files, for code that finds files by name.
    pub(crate) fn protected_files(&self) -> Arc<ProtectedFiles> {
        self.protected.clone()
    }

    /// Returns whether an entry of a directory is protected.
    pub(crate) fn is_protected(&self, stat: &Stat) -> bool {
        self.protected.check_stat(stat).is_err()
    }

    fn protected_error(&self, source: ProtectedReason) -> PathError {
        PathError::Protected { path: self.shown(), source }
    }

    fn open_error(&self, error: Errno) -> PathError {
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
        Err(PathError::Kind { path: self.shown(), found: kind(&stat), expected: "a file" })
    }

    pub(crate) fn stat(&self, opened: &impl AsFd) -> Result<Stat, PathError> {
        fstat(opened).map_err(|error| self.failed("inspect", error.into()))
    }

    pub(crate) fn failed(&self, what: &'static str, source: io::Error) -> PathError {
        PathError::Io { what, path: self.shown(), source }
    }
}

/// Returns the kind of a file, with an article, for messages.
pub(crate) fn kind(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "a file of unknown type",
    }
}
