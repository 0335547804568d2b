//! What a person can do about a source: connect it anew, switch it on or off, read what it said.

use std::sync::Arc;

use super::sources::{Sources, Work};

/// There is no such source in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no server or API '{name}' in the configuration")]
pub(super) struct UnknownSource {
    name: String,
}

impl Sources {
    /// Connects a source anew: at once where it waits or has failed, and also where it is connected.
    pub(super) fn reconnect(self: &Arc<Self>, name: &str) -> Result<(), UnknownSource> {
        let mut table = self.lock();
        if !table.wanted.contains_key(name) {
            return Err(UnknownSource { name: name.to_owned() });
        }
        match table.running.get(name).map(|it| &it.work) {
            Some(Work::Connection(upstream)) => upstream.reconnect(),
            // A description is loaded again from the beginning; its tools stay until it is there.
            Some(Work::Load { .. }) | None => {
                let ended = table.running.shift_remove(name);
                self.start_missing(&mut table);
                if let (Some(ended), Some(begun)) = (ended, table.running.get_mut(name)) {
                    begun.offer = ended.offer;
                }
            }
            Some(Work::Nothing) => {}
        }
        Ok(())
    }

    /// Switches a source on or off until the program ends, whatever the configuration says; saying it twice changes
    /// nothing.
    pub(super) fn set_enabled(self: &Arc<Self>, name: &str, is_enabled: bool) -> Result<(), UnknownSource> {
        let mut table = self.lock();
        let Some((_, name, wanted)) = table.wanted.get_full_mut(name) else {
            return Err(UnknownSource { name: name.to_owned() });
        };
        let (name, before) = (name.clone(), wanted.clone());
        wanted.set_enabled(is_enabled);
        let (is_same, source) = (*wanted == before, wanted.source(&name));
        table.switched.insert(name.clone(), is_enabled);
        if is_same {
            return Ok(());
        }
        let ended = table.running.shift_remove_entry(&name);
        self.end(ended.into_iter().collect());
        let Ok(()) = self.server.shared_catalog().replace(|catalog| {
            catalog.remove_source(&source);
            Ok::<_, std::convert::Infallible>(())
        });
        self.start_missing(&mut table);
        self.after_change(&table);
        Ok(())
    }

    /// Returns what a server wrote to its error output, or what is to be said about a description.
    pub(super) fn last_lines(&self, name: &str) -> Result<Vec<String>, UnknownSource> {
        let table = self.lock();
        if !table.wanted.contains_key(name) {
            return Err(UnknownSource { name: name.to_owned() });
        }
        let running = table.running.get(name);
        Ok(running.map_or_else(Vec::new, |it| match &it.work {
            Work::Connection(upstream) => upstream.stderr_lines(),
            _ => it.notes.clone(),
        }))
    }
}
