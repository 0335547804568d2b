//! Rows of queries that led to a tool.

use rusqlite::{Row, params};

use super::{Pending, Storage};
use onetool_core::clock::Timestamp;

/// Rows in all; the oldest make room for new ones.
const MAX_ROWS: u32 = 20_000;

impl Storage {
    /// Keeps that a query led to a tool, and only the `max` latest queries of that tool.
    pub fn remember(&self, tool: &str, query: &str, at: Timestamp, max: usize) -> Pending<()> {
        let (tool, query) = (tool.to_owned(), query.to_owned());
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        self.submit(move |database| {
            let transaction = database.connection().unchecked_transaction()?;
            database
                .connection()
                .prepare_cached(
                    "INSERT INTO remembered (tool, query, at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (tool, query) DO UPDATE SET at = MAX(at, excluded.at)",
                )?
                .execute(params![tool, query, at.as_millis()])?;
            database
                .connection()
                .prepare_cached(
                    "DELETE FROM remembered WHERE tool = ?1 AND query NOT IN
                     (SELECT query FROM remembered WHERE tool = ?1 ORDER BY at DESC, query LIMIT ?2)",
                )?
                .execute(params![tool, max])?;
            database
                .connection()
                .prepare_cached(
                    "DELETE FROM remembered WHERE rowid IN
                     (SELECT rowid FROM remembered ORDER BY at DESC LIMIT -1 OFFSET ?1)",
                )?
                .execute([MAX_ROWS])?;
            transaction.commit()
        })
    }

    /// Returns every tool with a query that led to it, oldest first.
    pub fn remembered(&self) -> Pending<Vec<(String, String)>> {
        self.submit(|database| {
            let mut statement = database
                .connection()
                .prepare_cached("SELECT tool, query FROM all_remembered ORDER BY at, query")?;
            let rows = statement.query_map([], |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }
}
