//! Records calls in the statistics and the history, and as search feedback.

use std::sync::Arc;

use onetool_core::ToolSpec;
use onetool_core::state::SessionKey;

use super::PAGE;
use crate::memory::note_call;
use crate::search::Finder;
use onetool_server::catalog::{Catalog, Entry, Source};
use onetool_server::dispatch::{CallRecord, Observer};
use onetool_store::stats::{Event, Outcome, RunId, Stats, tokens};

/// The tool that records itself.
const RUN: &str = "run";

/// Records every call; `run` records itself.
pub(super) struct Recorder {
    pub(super) stats: Stats,
    pub(super) finder: Arc<Finder>,
    #[cfg(feature = "web")]
    pub(super) history: Arc<super::call_history::History>,
}

impl Observer for Recorder {
    #[cfg(feature = "web")]
    fn wants_arguments(&self) -> bool {
        self.history.is_on()
    }

    fn call_finished(&self, record: CallRecord<'_>) {
        note_call();
        let caller = record.cx.caller();
        let client = record.cx.client().name;
        #[cfg(feature = "web")]
        self.history.add(&record, client.as_deref());
        if record.is_success && *record.entry.source() != Source::Surface {
            self.finder.record_use(&SessionKey::from_call(record.cx), record.entry.name().as_str());
        }
        // A person on the page has no context window that definitions could fill.
        if client.as_deref() != Some(PAGE) {
            let session = format!("{}\0{}\0{client:?}", caller.principal, caller.profile);
            self.stats.saw_session(&session, client.as_deref());
        }
        if record.entry.name().as_str() == RUN {
            return;
        }
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        self.stats.record(Event::Call {
            tool: record.entry.name().clone(),
            client,
            duration: record.duration,
            args_size: size(record.args_size),
            output_size: size(record.output_size),
            outcome: if record.is_success { Outcome::Success } else { Outcome::Failure },
            in_run: record.cx.run().map(RunId::from_raw),
        });
    }
}

/// Returns the tokens of the local definitions that are not on the clients' lists, and of those that are. Remote
/// definitions are counted by [`Sources`](super::sources::Sources).
pub(super) fn definition_tokens(catalog: &Catalog) -> (u64, u64) {
    let size = |entry: &Entry| spec_tokens(entry.spec());
    let is_local = |entry: &&Arc<Entry>| !entry.source().is_remote();
    let unlisted = catalog.tools().filter(is_local).filter(|entry| !catalog.is_listed(entry));
    (unlisted.map(|entry| size(entry)).sum(), catalog.listed().map(|entry| size(entry)).sum())
}

/// Returns the tokens of one definition.
pub(super) fn spec_tokens(spec: &ToolSpec) -> u64 {
    let schema = serde_json::to_string(&*spec.input_schema.peek()).unwrap_or_default();
    let size = spec.description.len() + spec.name.as_str().len() + schema.len();
    tokens(u64::try_from(size).unwrap_or(u64::MAX))
}
