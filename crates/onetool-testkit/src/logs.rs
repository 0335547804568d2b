//! Captures what is logged while a test runs.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use onetool::sync::Unpoisoned as _;
use tracing::subscriber::DefaultGuard;

/// Captures the log of the current thread until it is dropped.
pub struct CapturedLogs {
    buffer: Buffer,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unpoisoned().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CapturedLogs {
    /// Starts to capture events at `level` and above.
    pub fn start(level: tracing::Level) -> Self {
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        Self { buffer, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// Returns what has been logged so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.buffer.0.lock().unpoisoned()).into_owned()
    }
}
