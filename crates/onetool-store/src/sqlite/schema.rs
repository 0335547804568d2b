//! The tables, and the steps that bring an older file up to date.

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours, so that another program's database is never changed.
const APPLICATION_ID: i32 = 0x1700_1b0c;

/// Every table. Queries read the view `all_<table>`, which includes a file that can only be read.
pub(super) const TABLES: [&str; 7] =
    ["results", "result_parts", "calls", "runs", "sessions", "remembered", "openings"];

/// Step `n` brings a database from version `n` to `n + 1`. Released steps never change.
const STEPS: [&str; 4] = [
    "
    CREATE TABLE results (
        handle TEXT NOT NULL PRIMARY KEY,
        principal TEXT NOT NULL,
        profile TEXT NOT NULL,
        is_json INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        total_lines INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        body TEXT
    ) STRICT;
    CREATE INDEX results_expires_at ON results (expires_at);
    CREATE INDEX results_readable ON results (expires_at) WHERE body IS NOT NULL;
    CREATE TABLE calls (
        at INTEGER NOT NULL,
        tool TEXT NOT NULL,
        client TEXT,
        duration_us INTEGER NOT NULL,
        args_size INTEGER NOT NULL,
        output_size INTEGER NOT NULL,
        success INTEGER NOT NULL,
        run INTEGER
    ) STRICT;
    CREATE INDEX calls_at ON calls (at);
    CREATE INDEX calls_tool ON calls (tool, at);
    CREATE TABLE runs (
        id INTEGER NOT NULL,
        at INTEGER NOT NULL,
        client TEXT,
        duration_us INTEGER NOT NULL,
        code_size INTEGER NOT NULL,
        output_size INTEGER NOT NULL,
        inner_calls INTEGER NOT NULL,
        inner_bytes INTEGER NOT NULL,
        success INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_at ON runs (at);
    CREATE INDEX runs_id ON runs (id);
    CREATE TABLE sessions (
        at INTEGER NOT NULL,
        client TEXT,
        kept_out INTEGER NOT NULL,
        own INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sessions_at ON sessions (at);
",
    "
    CREATE TABLE remembered (
        tool TEXT NOT NULL,
        query TEXT NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (tool, query)
    ) STRICT;
    CREATE INDEX remembered_at ON remembered (at);
",
    "
    CREATE TABLE result_parts (
        handle TEXT NOT NULL,
        first_line INTEGER NOT NULL,
        at INTEGER NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (handle, first_line)
    ) STRICT;
    CREATE TRIGGER results_emptied AFTER UPDATE OF body ON results WHEN NEW.body IS NULL BEGIN
        DELETE FROM result_parts WHERE handle = NEW.handle;
    END;
    CREATE TRIGGER results_forgotten AFTER DELETE ON results BEGIN
        DELETE FROM result_parts WHERE handle = OLD.handle;
    END;
",
    "
    CREATE TABLE openings (
        command TEXT NOT NULL PRIMARY KEY,
        version TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX openings_at ON openings (at);
",
];

/// What a database says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// It is empty.
    Empty,
    /// It is ours, after this many steps.
    Ours(usize),
    /// Another program created it.
    Foreign,
    /// A newer onetool created it.
    Newer(i32),
}

impl Version {
    pub(super) fn is_current(self) -> bool {
        self == Self::Ours(STEPS.len())
    }
}

/// Reads the version of the database `schema`: `main`, or one that is attached.
pub(super) fn version(connection: &Connection, schema: &str) -> rusqlite::Result<Version> {
    // One snapshot: another gateway may be creating the tables right now.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let number = |pragma: &str| {
        connection.query_row(&format!("PRAGMA {schema}.{pragma}"), [], |row| row.get::<_, i32>(0))
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection
            .query_row(&format!("SELECT COUNT(*) FROM {schema}.sqlite_schema"), [], |row| row.get(0))?;
    Ok(match usize::try_from(version) {
        _ if application == 0 && tables == 0 => Version::Empty,
        Ok(steps) if application == APPLICATION_ID && steps <= STEPS.len() => Version::Ours(steps),
        _ if application == APPLICATION_ID => Version::Newer(version),
        _ => Version::Foreign,
    })
}

/// Brings the main database up to date if it is empty or an older one of ours.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<Version> {
    let found = version(connection, "main")?;
    if found.is_current() || matches!(found, Version::Foreign | Version::Newer(_)) {
        return Ok(found);
    }
    // Another gateway may do the same: the version is read again under the lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = match version(&transaction, "main")? {
        Version::Empty => 0,
        Version::Ours(steps) => steps,
        other => return Ok(other),
    };
    for (step, version) in STEPS.iter().zip(1_i32..).skip(done) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    version(connection, "main")
}
