//! The files of onetool itself, which no tool opens for an agent.
//!
//! A file is recognized by its device and inode after it has been opened, so no link, spelling or rename gets around
//! the rule. Names count only where there is no file yet.

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

/// A directory of this name holds a configuration and what onetool keeps; no tool opens or makes one anywhere.
const STATE_DIRECTORY: &str = ".onetool";
/// What SQLite writes beside a database.
const DATABASE_SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// How many entries of the state directories are looked at; with more, only hard links to the rest are missed.
const MAX_ENTRIES: usize = 20_000;

/// Why a file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClosedReason {
    /// It is part of the configuration or state.
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

/// The files of onetool itself. Clones share one list, which every reload renews.
#[derive(Clone, Default)]
pub struct OwnFiles(Current<OwnPaths>);

/// The files and directories that belong to onetool, or that decide what it starts.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OwnPaths {
    /// Directories that are closed with everything in them.
    pub directories: Vec<PathBuf>,
    /// Files that are closed.
    pub files: Vec<PathBuf>,
    /// Patterns of Python packs, which are closed.
    pub packs: Vec<PathBuf>,
    /// Words of command lines and paths of descriptions; those that are files can be read but not changed.
    pub fixed: Vec<PathBuf>,
    /// Databases that can be read but not changed as files.
    pub databases: Vec<PathBuf>,
}

impl OwnFiles {
    /// Replaces the list.
    pub fn set(&self, paths: OwnPaths) {
        self.0.set(paths);
    }

    /// Looks at the disk: which files are closed at this moment. This blocks.
    pub fn look(&self) -> ClosedFiles {
        ClosedFiles::new(&self.0.get())
    }
}

impl OwnPaths {
    /// Adds a SQLite database that belongs to onetool, with the files that SQLite writes next to it.
    pub fn add_own_database(&mut self, path: &Path) {
        self.files.extend(database_files(path));
    }

    /// Adds a SQLite database of the operator's, with the files that SQLite writes next to it.
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

/// A file or directory, whatever it is called.
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

fn id_of(path: &Path) -> Option<FileId> {
    path.metadata().ok().map(|it| FileId::from(&it))
}

/// Which files are closed at one moment.
#[derive(Default)]
pub struct ClosedFiles {
    /// The files that are named one by one.
    named: HashSet<FileId>,
    /// Those, the state directories, and everything in these.
    own: HashSet<FileId>,
    fixed: HashSet<FileId>,
    /// Directories above any of them, which cannot be moved away.
    above: HashSet<FileId>,
    /// Names in directories under which a file would be closed if it were there.
    names: HashMap<(FileId, OsString), ClosedReason>,
    /// The state directories, without links.
    directories: Vec<PathBuf>,
    packs: Vec<Pattern>,
}

impl ClosedFiles {
    fn new(named: &OwnPaths) -> Self {
        let mut closed = Self::default();
        for directory in &named.directories {
            closed.add_above(directory);
            if let Ok(real) = directory.canonicalize() {
                closed.own.extend(id_of(&real));
                closed.add_inside(&real);
                closed.directories.push(real);
            }
        }
        let packs = matching_files(&named.packs).into_iter().filter_map(Result::ok);
        for path in named.files.iter().cloned().chain(packs) {
            closed.add_name(&path, ClosedReason::Own);
            if let Some(id) = id_of(&path) {
                closed.named.insert(id);
                closed.own.insert(id);
            }
        }
        for pattern in &named.packs {
            let (directory, rest) = split_pattern(pattern);
            closed.add_above(&directory.join("x"));
            let Ok(real) = directory.canonicalize() else { continue };
            let pattern = format!("{}/{rest}", Pattern::escape(&real.to_string_lossy()));
            closed.packs.extend(Pattern::new(&pattern));
        }
        for path in &named.databases {
            closed.add_name(path, ClosedReason::Fixed);
            closed.fixed.extend(id_of(path));
        }
        // Most words of a command line are no files.
        for path in named.fixed.iter().filter(|it| it.is_file()) {
            closed.add_name(path, ClosedReason::Fixed);
            closed.fixed.extend(id_of(path));
        }
        closed
    }

    /// Adds every directory above a path, as it is written and as it is without links.
    fn add_above(&mut self, path: &Path) {
        let real = path.canonicalize().ok();
        let paths = [Some(path), real.as_deref()].into_iter().flatten();
        self.above.extend(paths.flat_map(|it| it.ancestors().skip(1)).filter_map(id_of));
    }

    fn add_name(&mut self, path: &Path, refused: ClosedReason) {
        self.add_above(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(parent) = id_of(parent) {
            self.names.entry((parent, name.to_owned())).or_insert(refused);
        }
    }

    fn add_inside(&mut self, directory: &Path) {
        let mut left = vec![directory.to_owned()];
        let mut seen = 0;
        while let Some(directory) = left.pop() {
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_ENTRIES {
                    return;
                }
                let path = entry.path();
                // The file that a link leads to is as much ours as the link; a directory is not entered through one.
                self.own.extend(path.metadata().ok().filter(Metadata::is_file).map(|it| FileId::from(&it)));
                let Ok(metadata) = entry.metadata() else { continue };
                self.own.insert(FileId::from(&metadata));
                if metadata.is_dir() {
                    left.push(path);
                }
            }
        }
    }

    /// Refuses a file or directory that has been opened, whatever led there.
    pub fn check(&self, opened: &impl AsFd) -> Result<(), ClosedReason> {
        // What cannot be looked at cannot be judged; using it fails as well.
        let Ok(stat) = fstat(opened) else { return Ok(()) };
        self.check_stat(&stat)?;
        if fstatfs(opened).is_ok_and(|it| it.f_type == PROC_SUPER_MAGIC) {
            return Err(ClosedReason::Process);
        }
        match path_of(opened) {
            Some(path) if self.is_inside(&path) => Err(ClosedReason::Own),
            _ => Ok(()),
        }
    }

    /// Refuses what has been looked at in a directory that is not closed.
    pub(crate) fn check_stat(&self, stat: &Stat) -> Result<(), ClosedReason> {
        if self.own.contains(&FileId::from(stat)) { Err(ClosedReason::Own) } else { Ok(()) }
    }

    /// Refuses a path that has to be opened by its name; returns which file it leads to now, if to any.
    #[cfg_attr(not(feature = "db"), expect(dead_code, reason = "only SQLite opens by name"))]
    pub(crate) fn check_path(&self, path: &Path) -> Result<Option<FileId>, ClosedReason> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::open(path, flags, Mode::empty()) else { return Ok(None) };
        self.check(&opened)?;
        Ok(fstat(&opened).ok().map(|stat| FileId::from(&stat)))
    }

    /// Tells whether a directory that a walk by names came by is closed.
    #[cfg_attr(not(feature = "ripgrep"), expect(dead_code, reason = "only ripgrep walks by names"))]
    pub(crate) fn has_directory(&self, path: &Path) -> bool {
        path.file_name().is_some_and(is_state_directory)
            || path.symlink_metadata().is_ok_and(|it| self.own.contains(&FileId::from(&it)))
    }

    /// Refuses to put something under a name in an opened directory that is not closed itself; `existing` is what has
    /// the name now.
    pub fn check_change(
        &self,
        directory: &impl AsFd,
        name: &OsStr,
        existing: Option<&Stat>,
    ) -> Result<(), ClosedReason> {
        if let Some(stat) = existing {
            self.check_stat(stat)?;
            if self.fixed.contains(&FileId::from(stat)) {
                return Err(ClosedReason::Fixed);
            }
        }
        if is_state_directory(name) {
            return Err(ClosedReason::Own);
        }
        if let Ok(stat) = fstat(directory)
            && let Some(refused) = self.names.get(&(FileId::from(&stat), name.to_owned()))
        {
            return Err(*refused);
        }
        match path_of(directory) {
            Some(path) if self.is_pack(&path.join(name)) => Err(ClosedReason::Own),
            _ => Ok(()),
        }
    }

    /// Refuses to take something away from an opened directory: also what one of our files lies in, or is reached through.
    #[cfg_attr(not(feature = "file"), expect(dead_code, reason = "only files can be deleted"))]
    pub(crate) fn check_removal(&self, directory: &impl AsFd, name: &OsStr) -> Result<(), ClosedReason> {
        for flags in [AtFlags::SYMLINK_NOFOLLOW, AtFlags::empty()] {
            let Ok(stat) = statat(directory, name, flags) else { continue };
            self.check_change(directory, name, Some(&stat))?;
            if self.above.contains(&FileId::from(&stat)) {
                return Err(ClosedReason::Own);
            }
        }
        Ok(())
    }

    /// Refuses a file that is named as ours, wherever it lies: for files that the operator named, such as those of notes.
    pub fn check_named(&self, opened: &impl AsFd) -> Result<(), ClosedReason> {
        let is_named = fstat(opened).is_ok_and(|stat| self.named.contains(&FileId::from(&stat)));
        if is_named { Err(ClosedReason::Own) } else { Ok(()) }
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

/// Returns the directory that a pattern begins with, and the part of it that has wildcards.
fn split_pattern(pattern: &Path) -> (PathBuf, String) {
    let is_plain = |part: &&OsStr| !part.to_string_lossy().contains(['*', '?', '[']);
    let parts: Vec<&OsStr> = pattern.iter().collect();
    // The last part is a file's name, with or without wildcards.
    let plain = parts.iter().take(parts.len().saturating_sub(1)).take_while(|it| is_plain(it)).count();
    let rest: PathBuf = parts[plain..].iter().collect();
    (parts[..plain].iter().collect(), rest.to_string_lossy().into_owned())
}

/// Returns where an opened file is now, as the kernel sees it.
pub(crate) fn path_of(opened: &impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())).ok()
}
