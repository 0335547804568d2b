//! Rows of servers that have to be begun with `initialize`, because they end when they are asked for anything newer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use onetool_core::BoxFuture;
use onetool_proxy::ServerMemory;
use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::Storage;
use crate::clock::Clock;

/// Rows in all; the oldest make room for new ones.
const MAX_ROWS: u32 = 1_000;

/// What the store remembers of servers.
#[derive(Debug, Clone)]
pub(crate) struct Openings {
    pub(crate) storage: Storage,
    pub(crate) clock: Clock,
}

impl ServerMemory for Openings {
    fn needs_initialize<'a>(&'a self, command: &'a str, args: &'a [String]) -> BoxFuture<'a, Option<String>> {
        let command = digest(command, args);
        let found = self.storage.submit(move |database| {
            let connection = database.connection();
            let mut found =
                connection.prepare_cached("SELECT version FROM all_openings WHERE command = ?1")?;
            found.query_row([&command], |row| row.get(0)).optional()
        });
        Box::pin(async { found.done().await.ok().flatten() })
    }

    fn remember_initialize(&self, command: &str, args: &[String], version: Option<&str>) {
        let (command, version) = (digest(command, args), version.map(str::to_owned));
        let at = self.clock.now().as_millis();
        // What is not remembered is found out once more.
        drop(self.storage.submit(move |database| {
            let connection = database.connection();
            let Some(version) = &version else {
                connection.execute("DELETE FROM openings WHERE command = ?1", [&command])?;
                return Ok(());
            };
            connection.execute(
                "INSERT INTO openings (command, version, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (command) DO UPDATE SET version = excluded.version, at = excluded.at",
                params![command, version, at],
            )?;
            connection.execute(
                "DELETE FROM openings WHERE command IN
                 (SELECT command FROM openings ORDER BY at DESC LIMIT -1 OFFSET ?1)",
                [MAX_ROWS],
            )?;
            Ok(())
        }));
    }
}

/// Returns what a command line is known by; the line itself may hold secrets.
fn digest(command: &str, args: &[String]) -> String {
    let mut digest = Sha256::new();
    for part in std::iter::once(command).chain(args.iter().map(String::as_str)) {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    BASE64.encode(digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn seam_8_how_a_server_has_to_be_begun_is_kept_per_command_line_until_it_is_forgotten() {
        let openings = Openings { storage: Storage::in_memory(), clock: Clock::system() };
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        openings.remember_initialize("uvx", &args("chroma-mcp==0.2.0"), Some("0.2.0"));
        let found = |text: &'static str| async { openings.needs_initialize("uvx", &args(text)).await };
        assert_eq!(found("chroma-mcp==0.2.0").await.as_deref(), Some("0.2.0"));
        assert_eq!(found("chroma-mcp==0.3.0").await, None);
        assert_eq!(openings.needs_initialize("uvxchroma-mcp==0.2.0", &[]).await, None);
        openings.remember_initialize("uvx", &args("chroma-mcp==0.2.0"), None);
        assert_eq!(found("chroma-mcp==0.2.0").await, None);
    }
}
