//! Output: results to stdout, everything else to stderr.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

/// Prints a result.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// Prints a result as JSON.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print(&format!("{value:#}"))
}

/// Prints a message for the user to stderr, because stdout may belong to a protocol.
pub(crate) fn note(text: &str) {
    let mut stderr = io::stderr().lock();
    // If stderr is closed, the message has no reader.
    let _ = if NOTES_AS_JSON.load(Ordering::Relaxed) {
        writeln!(stderr, "{}", json!({"level": "INFO", "fields": {"message": text}}))
    } else {
        writeln!(stderr, "{text}")
    };
}

/// Whether stderr is a JSON log, in which notes must be JSON too.
static NOTES_AS_JSON: AtomicBool = AtomicBool::new(false);

/// Sets whether notes are written as lines of a JSON log.
pub(crate) fn write_notes_as_json(is_json: bool) {
    NOTES_AS_JSON.store(is_json, Ordering::Relaxed);
}
