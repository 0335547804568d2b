//! Remembers in the store which server commands need `initialize`.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use onetool_core::BoxFuture;
use onetool_core::clock::Clock;
use onetool_proxy::ServerMemory;
use onetool_store::Store;
use sha2::{Digest as _, Sha256};

/// The [`ServerMemory`] that is backed by the store.
pub(super) struct StoredMemory {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Clock,
}

impl fmt::Debug for StoredMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredMemory").finish_non_exhaustive()
    }
}

impl ServerMemory for StoredMemory {
    fn needs_initialize<'a>(&'a self, command: &'a str, args: &'a [String]) -> BoxFuture<'a, Option<String>> {
        let found = self.store.legacy_server(&digest(command, args));
        Box::pin(async { found.await.ok().flatten() })
    }

    fn remember_initialize(&self, command: &str, args: &[String], version: Option<&str>) {
        // Not awaited: if the write fails, the server is probed again next time.
        drop(self.store.set_legacy_server(&digest(command, args), version, self.clock.now()));
    }
}

/// Returns a digest that identifies a command line without revealing it, because it may contain secrets.
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
    use onetool_store::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn seam_8_how_a_server_has_to_be_begun_is_kept_per_command_line_until_it_is_forgotten() {
        let memory = StoredMemory { store: Arc::new(MemoryStore::default()), clock: Clock::system() };
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        memory.remember_initialize("uvx", &args("chroma-mcp==0.2.0"), Some("0.2.0"));
        let found = |text: &'static str| async { memory.needs_initialize("uvx", &args(text)).await };
        assert_eq!(found("chroma-mcp==0.2.0").await.as_deref(), Some("0.2.0"));
        assert_eq!(found("chroma-mcp==0.3.0").await, None);
        assert_eq!(memory.needs_initialize("uvxchroma-mcp==0.2.0", &[]).await, None);
        memory.remember_initialize("uvx", &args("chroma-mcp==0.2.0"), None);
        assert_eq!(found("chroma-mcp==0.2.0").await, None);
    }
}
