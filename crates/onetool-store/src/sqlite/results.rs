//! Rows of stored results.

use std::ops::Range;
use std::sync::atomic::Ordering;

use onetool_core::Caller;
use rusqlite::{OptionalExtension as _, Row, params};

use super::database::Database;
use super::{Pending, Storage, StorageError};
use onetool_core::clock::Timestamp;

/// How many free pages one clean-up gives back to the file system, so that it never takes long.
const PAGES_PER_CLEAN_UP: u32 = 8192;

/// What is known of a stored result without reading it.
#[derive(Debug, Clone)]
pub struct ResultRowInfo {
    /// What the result is asked for by.
    pub handle: String,
    /// Whether it is data; otherwise it is text.
    pub is_json: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it is deleted.
    pub expires_at: Timestamp,
    /// How many lines it has.
    pub total_lines: usize,
    /// How many bytes it has.
    pub size_bytes: u64,
}

/// A stored result; its text goes before the rest of it does.
#[derive(Debug, Clone)]
pub struct ResultRow {
    /// What is known of it.
    pub info: ResultRowInfo,
    /// The result; none if it is stored in parts, or expired.
    pub body: Option<String>,
}

impl ResultRow {
    /// Tells whether its text is too large for one row and stands in parts.
    pub fn is_in_parts(&self) -> bool {
        self.info.size_bytes > 0 && self.body.as_deref() == Some("")
    }
}

/// Some lines of a result that is too large for one row.
#[derive(Debug)]
pub struct ResultPart {
    /// The number of its first line, counted from 0.
    pub first_line: usize,
    /// The lines.
    pub body: String,
}

impl Storage {
    /// Refuses what is larger than a result may be.
    pub fn check_size(&self, size: u64) -> Result<(), StorageError> {
        // Memory has to be able to stand in for the file.
        let max = self.0.limits.in_memory.min(self.0.max_results.load(Ordering::Relaxed));
        if size > max { Err(StorageError::TooLarge { size, max }) } else { Ok(()) }
    }

    /// Keeps a part of a result whose row comes when all parts are there.
    pub async fn add_result_part(
        &self,
        handle: &str,
        first_line: usize,
        at: Timestamp,
        body: String,
    ) -> Result<(), StorageError> {
        let handle = handle.to_owned();
        self.submit(move |database| {
            let sql = "INSERT INTO result_parts (handle, first_line, at, body) VALUES (?1, ?2, ?3, ?4)";
            let mut statement = database.connection().prepare_cached(sql)?;
            statement.execute(params![handle, signed(first_line), at.as_millis(), body])?;
            Ok(())
        })
        .done()
        .await
    }

    /// Throws away the parts of a result that did not come to its end; nobody waits for that.
    pub fn drop_result_parts(&self, handle: &str) {
        let handle = handle.to_owned();
        let dropped = self.submit(move |database| {
            database.connection().execute("DELETE FROM result_parts WHERE handle = ?1", [&handle])?;
            shrink(database)
        });
        drop(dropped);
    }

    /// Returns the parts of a result that hold these lines, in order.
    pub async fn result_parts(
        &self,
        handle: &str,
        lines: Range<usize>,
    ) -> Result<Vec<ResultPart>, StorageError> {
        let handle = handle.to_owned();
        self.submit(move |database| {
            let mut statement = database.connection().prepare_cached(
                "SELECT first_line, body FROM all_result_parts
                 WHERE handle = ?1 AND first_line < ?3 AND first_line >= (
                     SELECT COALESCE(MAX(first_line), 0) FROM all_result_parts
                     WHERE handle = ?1 AND first_line <= ?2
                 ) ORDER BY first_line",
            )?;
            let part = |row: &Row<'_>| {
                let first_line = usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
                Ok(ResultPart { first_line, body: row.get(1)? })
            };
            let rows = statement.query_map(params![handle, signed(lines.start), signed(lines.end)], part)?;
            rows.collect()
        })
        .done()
        .await
    }

    /// Counts the parts of all results; for tests.
    #[doc(hidden)]
    pub async fn all_result_parts(&self) -> Result<usize, StorageError> {
        let count = self.submit(|database| {
            database
                .connection()
                .query_row("SELECT COUNT(*) FROM result_parts", [], |row| row.get::<_, i64>(0))
        });
        Ok(usize::try_from(count.done().await?).unwrap_or_default())
    }

    /// Keeps a result; older ones go where there is no room for all.
    pub async fn add_result(&self, owner: &Caller, row: ResultRow) -> Result<(), StorageError> {
        let size = row.info.size_bytes;
        self.check_size(size)?;
        let (limits, configured) = (self.0.limits, self.0.max_results.load(Ordering::Relaxed));
        let owner = owner.clone();
        self.submit(move |database| {
            let transaction = database.connection().unchecked_transaction()?;
            let max = if database.is_file() { limits.in_file } else { limits.in_memory };
            let emptied = make_room(database, max.min(configured).saturating_sub(size))?;
            insert(database, &owner, &row)?;
            transaction.commit()?;
            if emptied > 0 { shrink(database) } else { Ok(()) }
        })
        .done()
        .await
    }

    /// Returns the result of that handle, if it is that caller's.
    pub async fn result(&self, owner: &Caller, handle: &str) -> Result<Option<ResultRow>, StorageError> {
        let (owner, handle) = (owner.clone(), handle.to_owned());
        self.submit(move |database| {
            let mut statement = database.connection().prepare_cached(
                "SELECT handle, is_json, created_at, expires_at, total_lines, size_bytes, body
                 FROM all_results WHERE handle = ?1 AND principal = ?2 AND profile = ?3",
            )?;
            let row = |row: &Row<'_>| Ok(ResultRow { info: info(row)?, body: row.get(6)? });
            statement.query_row(params![handle, owner.principal, owner.profile], row).optional()
        })
        .done()
        .await
    }

    /// Returns that caller's results that can still be read, newest first.
    pub async fn results(&self, owner: &Caller, now: Timestamp) -> Result<Vec<ResultRowInfo>, StorageError> {
        let owner = owner.clone();
        self.submit(move |database| {
            let mut statement = database.connection().prepare_cached(
                "SELECT handle, is_json, created_at, expires_at, total_lines, size_bytes FROM all_results
                 WHERE principal = ?1 AND profile = ?2 AND expires_at > ?3 AND body IS NOT NULL
                 ORDER BY created_at DESC, handle",
            )?;
            let rows = statement.query_map(params![owner.principal, owner.profile, now.as_millis()], info)?;
            rows.collect()
        })
        .done()
        .await
    }

    /// Deletes the texts of results that expired by `now`, and forgets those that did by `forget` altogether.
    pub fn clean_results(&self, now: Timestamp, forget: Timestamp) -> Pending<()> {
        self.submit(move |database| {
            let connection = database.connection();
            let emptied = connection.execute(
                "UPDATE results SET body = NULL WHERE expires_at <= ?1 AND body IS NOT NULL",
                [now.as_millis()],
            )?;
            connection.execute("DELETE FROM results WHERE expires_at <= ?1", [forget.as_millis()])?;
            // What a gateway left behind that was killed while it stored a large result.
            connection.execute(
                "DELETE FROM result_parts WHERE at <= ?1 AND handle NOT IN (SELECT handle FROM results)",
                [forget.as_millis()],
            )?;
            if emptied > 0 {
                shrink(database)?;
            }
            Ok(())
        })
    }
}

fn insert(database: &Database, owner: &Caller, ResultRow { info, body }: &ResultRow) -> rusqlite::Result<()> {
    let mut statement = database.connection().prepare_cached(
        "INSERT INTO results (handle, principal, profile, is_json, created_at, expires_at, total_lines,
                              size_bytes, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    statement.execute(params![
        info.handle,
        owner.principal,
        owner.profile,
        info.is_json,
        info.created_at.as_millis(),
        info.expires_at.as_millis(),
        signed(info.total_lines),
        signed(info.size_bytes),
        body,
    ])?;
    Ok(())
}

/// Empties the oldest results until the others take at most `max` bytes; they answer as expired from then on. Returns
/// how many.
fn make_room(database: &Database, max: u64) -> rusqlite::Result<usize> {
    let mut statement = database.connection().prepare_cached(
        "SELECT rowid, size_bytes FROM results WHERE body IS NOT NULL ORDER BY created_at DESC, rowid DESC",
    )?;
    let mut rows = statement.query([])?;
    let (mut total, mut too_old) = (0_u64, Vec::new());
    while let Some(row) = rows.next()? {
        total = total.saturating_add(unsigned(row.get(1)?));
        if total > max {
            too_old.push(row.get::<_, i64>(0)?);
        }
    }
    for rowid in &too_old {
        let sql = "UPDATE results SET body = NULL, expires_at = MIN(expires_at, created_at) WHERE rowid = ?1";
        database.connection().prepare_cached(sql)?.execute([rowid])?;
    }
    Ok(too_old.len())
}

/// Gives free pages back to the file system.
fn shrink(database: &Database) -> rusqlite::Result<()> {
    let sql = format!("PRAGMA incremental_vacuum({PAGES_PER_CLEAN_UP})");
    let mut statement = database.connection().prepare(&sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn info(row: &Row<'_>) -> rusqlite::Result<ResultRowInfo> {
    Ok(ResultRowInfo {
        handle: row.get(0)?,
        is_json: row.get(1)?,
        created_at: Timestamp::from_millis(row.get(2)?),
        expires_at: Timestamp::from_millis(row.get(3)?),
        total_lines: usize::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
        size_bytes: unsigned(row.get(5)?),
    })
}

/// Fits a count into what SQLite has.
fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
