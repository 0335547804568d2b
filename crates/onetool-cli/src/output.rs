//! Writing for people and for other programs: results to stdout, everything else to stderr.

use std::io::{self, Write as _};

use serde_json::Value;

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
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
