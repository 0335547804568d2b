//! Servers that must be started with `initialize`, in the table `openings`.

use onetool_core::clock::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::database::{Database, signed};
use crate::store::MAX_LEGACY_SERVERS;

pub(super) fn get(database: &Database, command: &str) -> rusqlite::Result<Option<String>> {
    let mut statement =
        database.connection().prepare_cached("SELECT version FROM all_openings WHERE command = ?1")?;
    statement.query_row([command], |row| row.get(0)).optional()
}

pub(super) fn set(
    database: &Database,
    command: &str,
    version: Option<&str>,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let connection = database.connection();
    let Some(version) = version else {
        connection.execute("DELETE FROM openings WHERE command = ?1", [command])?;
        return Ok(());
    };
    connection.execute(
        "INSERT INTO openings (command, version, at) VALUES (?1, ?2, ?3)
         ON CONFLICT (command) DO UPDATE SET version = excluded.version, at = excluded.at",
        params![command, version, at.as_millis()],
    )?;
    connection.execute(
        "DELETE FROM openings WHERE command IN
         (SELECT command FROM openings ORDER BY at DESC LIMIT -1 OFFSET ?1)",
        [signed(MAX_LEGACY_SERVERS)],
    )?;
    Ok(())
}
