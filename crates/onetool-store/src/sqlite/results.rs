//! Results, in the tables `results` and `result_parts`.
//!
//! The text of a result in parts is empty, and the text of an expired one is null. Triggers delete the parts of results that
//! expire.

use std::ops::Range;

use onetool_core::Caller;
use onetool_core::clock::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};

use super::database::{Database, signed, unsigned};
use crate::store::{KeptResult, KeptText, ResultHandle, ResultInfo, ResultPart};

/// Maximum number of free pages that one clean-up returns to the file system, so that it never takes long.
const PAGES_PER_CLEAN_UP: u32 = 8192;

/// Adds a result; deletes the text of the oldest ones until all together have at most `max` bytes.
pub(super) fn add(
    database: &Database,
    owner: &Caller,
    result: &KeptResult,
    max: u64,
) -> rusqlite::Result<()> {
    let transaction = database.connection().unchecked_transaction()?;
    let deleted = make_room(database, max.saturating_sub(result.info.size_bytes))?;
    insert(database, owner, result)?;
    transaction.commit()?;
    if deleted > 0 { shrink(database) } else { Ok(()) }
}

pub(super) fn add_part(
    database: &Database,
    handle: &ResultHandle,
    part: &ResultPart,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO result_parts (handle, first_line, at, body) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = database.connection().prepare_cached(sql)?;
    statement.execute(params![handle.as_str(), signed(part.first_line), at.as_millis(), part.text])?;
    Ok(())
}

pub(super) fn drop_parts(database: &Database, handle: &ResultHandle) -> rusqlite::Result<()> {
    database.connection().execute("DELETE FROM result_parts WHERE handle = ?1", [handle.as_str()])?;
    shrink(database)
}

/// Returns the parts that contain any of these lines.
pub(super) fn parts(
    database: &Database,
    owner: &Caller,
    handle: &ResultHandle,
    lines: &Range<usize>,
) -> rusqlite::Result<Vec<ResultPart>> {
    let mut statement = database.connection().prepare_cached(
        "SELECT first_line, body FROM all_result_parts
         WHERE handle = ?1 AND first_line < ?3 AND first_line >= (
             SELECT COALESCE(MAX(first_line), 0) FROM all_result_parts WHERE handle = ?1 AND first_line <= ?2
         ) AND EXISTS (SELECT 1 FROM all_results WHERE handle = ?1 AND principal = ?4 AND profile = ?5)
         ORDER BY first_line",
    )?;
    let part = |row: &Row<'_>| {
        let first_line = usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        Ok(ResultPart { first_line, text: row.get(1)? })
    };
    let parameters =
        params![handle.as_str(), signed(lines.start), signed(lines.end), owner.principal, owner.profile];
    statement.query_map(parameters, part)?.collect()
}

pub(super) fn get(
    database: &Database,
    owner: &Caller,
    handle: &ResultHandle,
) -> rusqlite::Result<Option<KeptResult>> {
    let mut statement = database.connection().prepare_cached(
        "SELECT handle, is_json, created_at, expires_at, total_lines, size_bytes, body
         FROM all_results WHERE handle = ?1 AND principal = ?2 AND profile = ?3",
    )?;
    let result = |row: &Row<'_>| {
        let info = info(row)?;
        let text = match row.get::<_, Option<String>>(6)? {
            None => KeptText::Deleted,
            Some(text) if text.is_empty() && info.size_bytes > 0 => KeptText::InParts,
            Some(text) => KeptText::Whole(text),
        };
        Ok(KeptResult { info, text })
    };
    statement.query_row(params![handle.as_str(), owner.principal, owner.profile], result).optional()
}

/// Returns the results that can still be read, the newest first.
pub(super) fn list(database: &Database, owner: &Caller, now: Timestamp) -> rusqlite::Result<Vec<ResultInfo>> {
    let mut statement = database.connection().prepare_cached(
        "SELECT handle, is_json, created_at, expires_at, total_lines, size_bytes FROM all_results
         WHERE principal = ?1 AND profile = ?2 AND expires_at > ?3 AND body IS NOT NULL
         ORDER BY created_at DESC, handle",
    )?;
    statement.query_map(params![owner.principal, owner.profile, now.as_millis()], info)?.collect()
}

pub(super) fn expire(database: &Database, now: Timestamp, forget: Timestamp) -> rusqlite::Result<()> {
    let connection = database.connection();
    let deleted = connection.execute(
        "UPDATE results SET body = NULL WHERE expires_at <= ?1 AND body IS NOT NULL",
        [now.as_millis()],
    )?;
    connection.execute("DELETE FROM results WHERE expires_at <= ?1", [forget.as_millis()])?;
    // What a gateway left behind that was killed while it stored a large result.
    connection.execute(
        "DELETE FROM result_parts WHERE at <= ?1 AND handle NOT IN (SELECT handle FROM results)",
        [forget.as_millis()],
    )?;
    if deleted > 0 { shrink(database) } else { Ok(()) }
}

fn insert(database: &Database, owner: &Caller, result: &KeptResult) -> rusqlite::Result<()> {
    let mut statement = database.connection().prepare_cached(
        "INSERT INTO results (handle, principal, profile, is_json, created_at, expires_at, total_lines,
                              size_bytes, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let KeptResult { info, text } = result;
    let text = match text {
        KeptText::Whole(text) => Some(text.as_str()),
        KeptText::InParts => Some(""),
        KeptText::Deleted => None,
    };
    statement.execute(params![
        info.handle.as_str(),
        owner.principal,
        owner.profile,
        info.is_json,
        info.created_at.as_millis(),
        info.expires_at.as_millis(),
        signed(info.total_lines),
        signed(info.size_bytes),
        text,
    ])?;
    Ok(())
}

/// Deletes the text of the oldest results until the others have at most `max` bytes. Returns how many it deleted.
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

/// Returns free pages to the file system.
fn shrink(database: &Database) -> rusqlite::Result<()> {
    let sql = format!("PRAGMA incremental_vacuum({PAGES_PER_CLEAN_UP})");
    let mut statement = database.connection().prepare(&sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn info(row: &Row<'_>) -> rusqlite::Result<ResultInfo> {
    Ok(ResultInfo {
        handle: row.get::<_, String>(0)?.into(),
        is_json: row.get(1)?,
        created_at: Timestamp::from_millis(row.get(2)?),
        expires_at: Timestamp::from_millis(row.get(3)?),
        total_lines: usize::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
        size_bytes: unsigned(row.get(5)?),
    })
}
