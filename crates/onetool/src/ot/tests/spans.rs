//! Captures the pack's tracing spans with their fields.

use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use onetool_core::sync::Unpoisoned as _;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

type Spans = Arc<Mutex<Vec<(&'static str, String)>>>;

/// Captures the spans of the current thread until dropped.
pub(super) struct CapturedSpans {
    spans: Spans,
    _guard: DefaultGuard,
}

impl CapturedSpans {
    pub(super) fn start() -> Self {
        let spans = Spans::default();
        let recorder = Recorder { spans: spans.clone(), next: AtomicU64::new(1) };
        Self { spans, _guard: tracing::subscriber::set_default(recorder) }
    }

    /// Discards the spans captured so far. Call it after every span was opened once: before that, a span may be missed
    /// that another thread opens for the first time at the same moment.
    pub(super) fn settle(&self) {
        tracing::callsite::rebuild_interest_cache();
        self.take();
    }

    pub(super) fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.spans.lock().unpoisoned())
    }
}

struct Recorder {
    spans: Spans,
    next: AtomicU64,
}

struct Fields(String);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let separator = if self.0.is_empty() { "" } else { " " };
        let _ = write!(self.0, "{separator}{}={value:?}", field.name());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let name = span.metadata().name();
        if name.starts_with("ot.") {
            let mut fields = Fields(String::new());
            span.record(&mut fields);
            self.spans.lock().unpoisoned().push((name, fields.0));
        }
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
