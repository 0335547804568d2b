//! Remembered queries, in the table `remembered`.

use onetool_core::clock::Timestamp;
use rusqlite::{Row, params};

use super::database::{Database, signed};
use crate::store::{MAX_QUERIES, RememberedQuery};

pub(super) fn remember(
    database: &Database,
    tool: &str,
    query: &str,
    at: Timestamp,
    max_per_tool: usize,
) -> rusqlite::Result<()> {
    let transaction = database.connection().unchecked_transaction()?;
    transaction
        .prepare_cached(
            "INSERT INTO remembered (tool, query, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (tool, query) DO UPDATE SET at = MAX(at, excluded.at)",
        )?
        .execute(params![tool, query, at.as_millis()])?;
    transaction
        .prepare_cached(
            "DELETE FROM remembered WHERE tool = ?1 AND query NOT IN
             (SELECT query FROM remembered WHERE tool = ?1 ORDER BY at DESC, query LIMIT ?2)",
        )?
        .execute(params![tool, signed(max_per_tool)])?;
    transaction
        .prepare_cached(
            "DELETE FROM remembered WHERE rowid IN
             (SELECT rowid FROM remembered ORDER BY at DESC LIMIT -1 OFFSET ?1)",
        )?
        .execute([signed(MAX_QUERIES)])?;
    transaction.commit()
}

pub(super) fn all(database: &Database) -> rusqlite::Result<Vec<RememberedQuery>> {
    let mut statement =
        database.connection().prepare_cached("SELECT tool, query FROM all_remembered ORDER BY at, query")?;
    let query = |row: &Row<'_>| Ok(RememberedQuery { tool: row.get(0)?, query: row.get(1)? });
    statement.query_map([], query)?.collect()
}
