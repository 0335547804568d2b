//! Servers that must be started with `initialize`, in memory.

use std::collections::HashMap;

use onetool_core::clock::Timestamp;

use crate::store::MAX_LEGACY_SERVERS;

/// For each command, the version of its server and when it was set.
#[derive(Default)]
pub(super) struct LegacyServers(HashMap<String, (String, Timestamp)>);

impl LegacyServers {
    pub(super) fn get(&self, command: &str) -> Option<String> {
        self.0.get(command).map(|(version, _)| version.clone())
    }

    pub(super) fn set(&mut self, command: &str, version: Option<&str>, at: Timestamp) {
        let Some(version) = version else {
            self.0.remove(command);
            return;
        };
        self.0.insert(command.to_owned(), (version.to_owned(), at));
        if self.0.len() > MAX_LEGACY_SERVERS
            && let Some((oldest, _)) = self.0.iter().min_by_key(|(_, (_, at))| *at)
        {
            let oldest = oldest.clone();
            self.0.remove(&oldest);
        }
    }
}
