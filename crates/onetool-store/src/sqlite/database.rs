//! One open database: the file, or memory that replaces it.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::schema::{self, TABLES, Version};

const PAUSE_WHILE_BUSY: Duration = Duration::from_millis(20);
/// Maximum size of the write-ahead log on disk after a large write.
const LOG_SIZE_LIMIT: i64 = 16 << 20;
const MEMORY_PAGE: i64 = 4096;
/// Maximum size of a database in memory.
const MEMORY_MAX: i64 = 512 << 20;

/// An open database with all tables, and the views `all_<table>` to read from.
pub(super) struct Database {
    connection: Connection,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Memory,
    /// Writes go to memory, and reads include the file.
    MemoryOverFile,
}

/// Why a file cannot be used as the database.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("{}", reason(.0))]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it belongs to another program; set another file in `storage: {{url: …}}`")]
    Foreign,
    #[error("it was written by a newer onetool (version {0} of the tables)")]
    Newer(i32),
}

impl OpenError {
    pub(super) fn is_corruption(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_corruption(error))
    }
}

impl Database {
    /// Opens or creates the file, which only its owner can read.
    pub(super) fn open(path: &Path, busy: Duration) -> Result<Self, OpenError> {
        make_private(path)?;
        let deadline = Instant::now() + busy;
        loop {
            match Self::open_once(path, busy) {
                // Two gateways that start together: a change of the journal mode does not wait for the other one.
                Err(OpenError::Sqlite(error)) if is_busy(&error) && Instant::now() < deadline => {
                    std::thread::sleep(PAUSE_WHILE_BUSY);
                }
                opened => return opened,
            }
        }
    }

    fn open_once(path: &Path, busy: Duration) -> Result<Self, OpenError> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(busy)?;
        match schema::version(&connection, "main")? {
            Version::Foreign => return Err(OpenError::Foreign),
            Version::Newer(version) => return Err(OpenError::Newer(version)),
            Version::Empty => connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?,
            Version::Ours(_) => {}
        }
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT)?;
        match schema::migrate(&mut connection)? {
            Version::Foreign => return Err(OpenError::Foreign),
            Version::Newer(version) => return Err(OpenError::Newer(version)),
            Version::Empty | Version::Ours(_) => {}
        }
        let database = Self { connection, kind: Kind::File };
        database.make_views()?;
        Ok(database)
    }

    /// Opens a database that is lost when it is closed.
    pub(super) fn in_memory() -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.pragma_update(None, "page_size", MEMORY_PAGE)?;
        connection.pragma_update(None, "max_page_count", MEMORY_MAX / MEMORY_PAGE)?;
        schema::migrate(&mut connection)?;
        let database = Self { connection, kind: Kind::Memory };
        database.make_views()?;
        Ok(database)
    }

    /// Lets reads include a file that can be read but not written.
    pub(super) fn attach(&mut self, path: &Path, busy: Duration) -> Result<(), OpenError> {
        let text =
            path.to_str().filter(|_| path.is_file()).ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        self.connection.busy_timeout(busy)?;
        self.connection.execute("ATTACH DATABASE ?1 AS file", [text])?;
        match schema::version(&self.connection, "file") {
            Ok(version) if version.is_current() => self.kind = Kind::MemoryOverFile,
            other => {
                let _ = self.connection.execute_batch("DETACH DATABASE file");
                return Err(other.map_or_else(OpenError::Sqlite, |_| OpenError::Foreign));
            }
        }
        Ok(self.make_views()?)
    }

    /// Continues without the file.
    pub(super) fn detach(&mut self) -> rusqlite::Result<()> {
        self.kind = Kind::Memory;
        self.make_views()?;
        self.connection.execute_batch("DETACH DATABASE file")
    }

    /// Writes what memory holds into the file that is attached, all or nothing.
    pub(super) fn copy_into_file(&self) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        for table in TABLES {
            transaction
                .execute(&format!("INSERT OR IGNORE INTO file.{table} SELECT * FROM main.{table}"), [])?;
        }
        transaction.commit()
    }

    /// Reads the whole database and returns whether it is intact.
    pub(super) fn is_intact(&self) -> bool {
        let check = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match check {
            Ok(answer) => answer == "ok",
            Err(error) => !is_corruption(&error),
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns whether what is written survives a restart.
    pub(super) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    pub(super) fn is_over_file(&self) -> bool {
        self.kind == Kind::MemoryOverFile
    }

    fn make_views(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "temp_store", "MEMORY")?;
        for table in TABLES {
            let from_file = match self.kind {
                Kind::MemoryOverFile => format!(" UNION ALL SELECT * FROM file.{table}"),
                Kind::File | Kind::Memory => String::new(),
            };
            self.connection.execute_batch(&format!(
                "DROP VIEW IF EXISTS temp.all_{table};
                 CREATE TEMP VIEW all_{table} AS SELECT * FROM main.{table}{from_file}"
            ))?;
        }
        Ok(())
    }
}

/// Renames a corrupt file and the log that belongs to it.
pub(super) fn rename_corrupt(path: &Path, stamp: &str) -> io::Result<PathBuf> {
    let aside = (1..1000)
        .map(|number| match number {
            1 => with_suffix(path, &format!(".corrupt-{stamp}")),
            _ => with_suffix(path, &format!(".corrupt-{stamp}-{number}")),
        })
        .find(|free| !free.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

/// Creates the file if it does not exist, and lets only its owner read it; SQLite gives its log the same mode.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    for file in [path.to_owned(), with_suffix(path, "-wal"), with_suffix(path, "-shm")] {
        let Ok(metadata) = fs::metadata(&file) else { continue };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&file, Permissions::from_mode(mode & 0o700))?;
        }
    }
    Ok(())
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns whether the file or its disk is the problem, so that memory may work.
pub(super) fn is_file_problem(error: &rusqlite::Error) -> bool {
    is_corruption(error)
        || is_busy(error)
        || matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::ReadOnly
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::DiskFull
                    | ErrorCode::CannotOpen
                    | ErrorCode::PermissionDenied
                    | ErrorCode::FileLockingProtocolFailed
                    | ErrorCode::NoLargeFileSupport
            )
        )
}

pub(super) fn is_corruption(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Describes what is wrong with the file.
fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another program has locked it".into(),
        Some(ErrorCode::DiskFull) => "the disk is full".into(),
        Some(ErrorCode::ReadOnly) => "it is read-only".into(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => format!("it is corrupt ({error})"),
        _ => error.to_string(),
    }
}

/// Converts a count to what SQLite has.
pub(super) fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
