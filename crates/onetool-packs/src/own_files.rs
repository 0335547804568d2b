//! Protects onetool's own files from tools.
//!
//! A file is identified by its device and inode after it has been opened, so links, other spellings and renames do not
//! bypass the check. Names matter only where no file exists yet.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use onetool_config::matching_files;
use onetool_core::current::Current;
use rustix::fs::{AtFlags, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, statat};

/// Directories with this name contain a configuration and onetool's state. No tool opens or creates one.
const STATE_DIRECTORY: &str = ".onetool";
/// A SQLite database, and the files that SQLite writes next to it.
const DATABASE_SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// Maximum number of entries of state directories to identify. Beyond that, only hard links to the rest are missed.
const MAX_ENTRIES: usize = 20_000;

/// Why a file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtectedReason {
    /// It is part of onetool's configuration or state.
    #[error("it belongs to onetool itself (configuration, secrets or state), which no tool can open")]
    Own,
    /// The configuration uses it.
    #[error(
        "the configuration uses it (in a command line, as an API description or as a database), so it can be read but not changed"
    )]
    Fixed,
    /// It is in the proc file system.
    #[error("it shows the memory or environment of processes, which no tool can open")]
    Process,
}

/// onetool's own files. Clones share the list, which every reload replaces.
#[derive(Clone, Default)]
pub struct OwnFiles(Current<OwnPaths>);

/// The files and directories that belong to onetool, or that determine what it starts.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OwnPaths {
    /// Directories that no tool opens, with everything in them.
    pub directories: Vec<PathBuf>,
    /// Files that no tool opens.
    pub files: Vec<PathBuf>,
    /// Patterns of Python packs, which no tool opens.
    pub packs: Vec<PathBuf>,
    /// Arguments of command lines and paths of API descriptions. Tools can read but not change those that are files.
    pub fixed: Vec<PathBuf>,
    /// Databases whose files tools can read but not change.
    pub databases: Vec<PathBuf>,
}

impl OwnFiles {
    /// Replaces the list.
    pub fn set(&self, paths: OwnPaths) {
        self.0.set(paths);
    }

    /// Identifies the files on disk that are protected at the moment. This blocks.
    pub fn resolve(&self) -> ProtectedFiles {
        ProtectedFiles::new(&self.0.get())
    }
}

impl OwnPaths {
    /// Adds a SQLite database that belongs to onetool, with the files that SQLite writes next to it.
    pub fn add_own_database(&mut self, path: &Path) {
        self.files.extend(database_files(path));
    }

    /// Adds one of the operator's SQLite databases, with the files that SQLite writes next to it.
    pub fn add_database(&mut self, path: &Path) {
        self.databases.extend(database_files(path));
    }

    /// Adds the state directory inside `directory`, and `directory` itself if it is one.
    pub fn add_state_directory(&mut self, directory: &Path) {
        self.directories.push(directory.join(STATE_DIRECTORY));
        if is_state_directory(directory.file_name().unwrap_or_default()) {
            self.directories.push(directory.to_owned());
        }
    }
}

fn database_files(path: &Path) -> impl Iterator<Item = PathBuf> {
    DATABASE_SUFFIXES.iter().map(move |suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}

fn is_state_directory(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(STATE_DIRECTORY)
}

/// Identifies a file or directory, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl From<&Stat> for FileId {
    fn from(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl From<&Metadata> for FileId {
    fn from(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

fn file_id(path: &Path) -> Option<FileId> {
    path.metadata().ok().map(|it| FileId::from(&it))
}

/// The files that are protected at one moment.
#[derive(Default)]
pub struct ProtectedFiles {
    /// The files that are listed individually.
    named: HashSet<FileId>,
    /// Those, the state directories, and everything in the state directories.
    own: HashSet<FileId>,
    /// Files that tools can read but not change.
    fixed: HashSet<FileId>,
    /// Directories that contain any of these files, at any level. Tools must not move them.
    ancestors: HashSet<FileId>,
    /// Names in directories at which a new file would be protected.
    names: HashMap<(FileId, OsString), ProtectedReason>,
    /// The state directories, with links resolved.
    directories: Vec<PathBuf>,
    packs: Vec<Pattern>,
}

impl ProtectedFiles {
    fn new(paths: &OwnPaths) -> Self {
        let mut protected = Self::default();
        for directory in &paths.directories {
            protected.add_ancestors(directory);
            if let Ok(real) = directory.canonicalize() {
                protected.own.extend(file_id(&real));
                protected.add_contents(&real);
                protected.directories.push(real);
            }
        }
        let packs = matching_files(&paths.packs).into_iter().filter_map(Result::ok);
        for path in paths.files.iter().cloned().chain(packs) {
            protected.add_name(&path, ProtectedReason::Own);
            if let Some(id) = file_id(&path) {
                protected.named.insert(id);
                protected.own.insert(id);
            }
        }
        for pattern in &paths.packs {
            let (directory, rest) = split_pattern(pattern);
            protected.add_ancestors(&directory.join("x"));
            let Ok(real) = directory.canonicalize() else { continue };
            let pattern = format!("{}/{rest}", Pattern::escape(&real.to_string_lossy()));
            protected.packs.extend(Pattern::new(&pattern));
        }
        for path in &paths.databases {
            protected.add_name(path, ProtectedReason::Fixed);
            protected.fixed.extend(file_id(path));
        }
        // Most arguments of a command line are not files.
        for path in paths.fixed.iter().filter(|it| it.is_file()) {
            protected.add_name(path, ProtectedReason::Fixed);
            protected.fixed.extend(file_id(path));
        }
        protected
    }

    /// Adds every directory above a path, both as written and with links resolved.
    fn add_ancestors(&mut self, path: &Path) {
        let real = path.canonicalize().ok();
        let paths = [Some(path), real.as_deref()].into_iter().flatten();
        self.ancestors.extend(paths.flat_map(|it| it.ancestors().skip(1)).filter_map(file_id));
    }

    fn add_name(&mut self, path: &Path, reason: ProtectedReason) {
        self.add_ancestors(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(parent) = file_id(parent) {
            self.names.entry((parent, name.to_owned())).or_insert(reason);
        }
    }

    fn add_contents(&mut self, directory: &Path) {
        let mut pending = vec![directory.to_owned()];
        let mut seen = 0;
        while let Some(directory) = pending.pop() {
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_ENTRIES {
                    return;
                }
                let path = entry.path();
                // The target of a link to a file is protected too. Links to directories are not followed.
                self.own.extend(path.metadata().ok().filter(Metadata::is_file).map(|it| FileId::from(&it)));
                let Ok(metadata) = entry.metadata() else { continue };
                self.own.insert(FileId::from(&metadata));
                if metadata.is_dir() {
                    pending.push(path);
                }
            }
        }
    }

    /// Checks an opened file or directory, independent of the path that was used to open it.
    ///
    /// # Errors
    /// When it is protected.
    pub fn check(&self, opened: &impl AsFd) -> Result<(), ProtectedReason> {
        // If fstat fails, using the file fails too, so there is nothing to protect.
        let Ok(stat) = fstat(opened) else { return Ok(()) };
        self.check_stat(&stat)?;
        if fstatfs(opened).is_ok_and(|it| it.f_type == PROC_SUPER_MAGIC) {
            return Err(ProtectedReason::Process);
        }
        match current_path(opened) {
            Some(path) if self.is_inside(&path) => Err(ProtectedReason::Own),
            _ => Ok(()),
        }
    }

    /// Checks an entry of a directory that is not protected.
    pub(crate) fn check_stat(&self, stat: &Stat) -> Result<(), ProtectedReason> {
        if self.own.contains(&FileId::from(stat)) { Err(ProtectedReason::Own) } else { Ok(()) }
    }

    /// Checks a path that must be opened by its name; returns the file that it refers to now, if it exists.
    pub(crate) fn check_path(&self, path: &Path) -> Result<Option<FileId>, ProtectedReason> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::open(path, flags, Mode::empty()) else { return Ok(None) };
        self.check(&opened)?;
        Ok(fstat(&opened).ok().map(|stat| FileId::from(&stat)))
    }

    /// Returns whether a directory that was found by its name is protected.
    pub(crate) fn has_directory(&self, path: &Path) -> bool {
        path.file_name().is_some_and(is_state_directory)
            || path.symlink_metadata().is_ok_and(|it| self.own.contains(&FileId::from(&it)))
    }

    /// Checks the creation or replacement of an entry in an opened directory that is not protected. `existing` is the
    /// current entry with that name.
    ///
    /// # Errors
    /// When the current entry, or a new one with that name, is protected.
    pub fn check_change(
        &self,
        directory: &impl AsFd,
        name: &OsStr,
        existing: Option<&Stat>,
    ) -> Result<(), ProtectedReason> {
        if let Some(stat) = existing {
            self.check_stat(stat)?;
            if self.fixed.contains(&FileId::from(stat)) {
                return Err(ProtectedReason::Fixed);
            }
        }
        if is_state_directory(name) {
            return Err(ProtectedReason::Own);
        }
        if let Ok(stat) = fstat(directory)
            && let Some(reason) = self.names.get(&(FileId::from(&stat), name.to_owned()))
        {
            return Err(*reason);
        }
        match current_path(directory) {
            Some(path) if self.is_pack(&path.join(name)) => Err(ProtectedReason::Own),
            _ => Ok(()),
        }
    }

    /// Checks the removal of an entry from an opened directory. A directory that contains one of our files, or a link
    /// on the path to one, must not be removed either.
    pub(crate) fn check_removal(&self, directory: &impl AsFd, name: &OsStr) -> Result<(), ProtectedReason> {
        for flags in [AtFlags::SYMLINK_NOFOLLOW, AtFlags::empty()] {
            let Ok(stat) = statat(directory, name, flags) else { continue };
            self.check_change(directory, name, Some(&stat))?;
            if self.ancestors.contains(&FileId::from(&stat)) {
                return Err(ProtectedReason::Own);
            }
        }
        Ok(())
    }

    /// Checks an opened file that the operator configured, such as a file for notes. Unlike [`ProtectedFiles::check`],
    /// this allows files in state directories.
    ///
    /// # Errors
    /// When it is one of the files that are listed individually.
    pub fn check_named(&self, opened: &impl AsFd) -> Result<(), ProtectedReason> {
        let is_named = fstat(opened).is_ok_and(|stat| self.named.contains(&FileId::from(&stat)));
        if is_named { Err(ProtectedReason::Own) } else { Ok(()) }
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.iter().any(is_state_directory)
            || self.directories.iter().any(|it| path.starts_with(it))
            || self.is_pack(path)
    }

    fn is_pack(&self, path: &Path) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        self.packs.iter().any(|it| it.matches_path_with(path, options))
    }
}

/// Splits a pattern into the directory before the first wildcard and the rest.
fn split_pattern(pattern: &Path) -> (PathBuf, String) {
    let is_plain = |part: &&OsStr| !part.to_string_lossy().contains(['*', '?', '[']);
    let parts: Vec<&OsStr> = pattern.iter().collect();
    // The last part is the name of a file, with or without wildcards.
    let plain = parts.iter().take(parts.len().saturating_sub(1)).take_while(|it| is_plain(it)).count();
    let rest: PathBuf = parts[plain..].iter().collect();
    (parts[..plain].iter().collect(), rest.to_string_lossy().into_owned())
}

/// Returns the current path of an opened file, according to the kernel.
pub(crate) fn current_path(opened: &impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())).ok()
}
