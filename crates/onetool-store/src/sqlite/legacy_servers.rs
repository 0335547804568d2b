//! Rows of servers that have to be begun with `initialize`, because they end when they are asked for anything newer.

use rusqlite::{OptionalExtension as _, params};

use super::{Pending, Storage};
use onetool_core::clock::Timestamp;

/// Rows in all; the oldest make room for new ones.
const MAX_ROWS: u32 = 1_000;

impl Storage {
    /// Returns the version of the server that a command started last, if it has to be begun with `initialize`.
    pub fn opening(&self, command: &str) -> Pending<Option<String>> {
        let command = command.to_owned();
        self.submit(move |database| {
            let connection = database.connection();
            let mut found =
                connection.prepare_cached("SELECT version FROM all_openings WHERE command = ?1")?;
            found.query_row([&command], |row| row.get(0)).optional()
        })
    }

    /// Remembers that the server of a command has to be begun with `initialize`, or forgets it.
    pub fn set_opening(&self, command: &str, version: Option<&str>, at: Timestamp) -> Pending<()> {
        let (command, version) = (command.to_owned(), version.map(str::to_owned));
        self.submit(move |database| {
            let connection = database.connection();
            let Some(version) = &version else {
                connection.execute("DELETE FROM openings WHERE command = ?1", [&command])?;
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
                [MAX_ROWS],
            )?;
            Ok(())
        })
    }
}
