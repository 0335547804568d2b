//! Writing for people and for other programs: results to stdout, everything else to stderr.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

/// Writes a result.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// Writes a result as JSON.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print(&format!("{value:#}"))
}

/// Tells a person something; stdout may belong to a protocol.
pub(crate) fn note(text: &str) {
    let mut stderr = io::stderr().lock();
    // There is nobody left to tell if stderr is closed.
    let _ = if NOTES_AS_JSON.load(Ordering::Relaxed) {
        writeln!(stderr, "{}", json!({"level": "INFO", "fields": {"message": text}}))
    } else {
        writeln!(stderr, "{text}")
    };
}

/// Whether stderr is a machine-readable log, so that notes have to be log lines too.
static NOTES_AS_JSON: AtomicBool = AtomicBool::new(false);

/// Has notes written as lines of a JSON log.
pub(crate) fn write_notes_as_json(is_json: bool) {
    NOTES_AS_JSON.store(is_json, Ordering::Relaxed);
}
