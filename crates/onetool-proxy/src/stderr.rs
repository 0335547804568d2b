//! What a child writes to its standard error: read to the end whatever it is, logged with measure, remembered a little.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scrub::{Scrubber, cut};

const LINE_MAX: usize = 2000;
/// What is read of a line: more than is shown, so that a secret at the cut is still seen whole and taken out.
const READ_MAX: usize = 2 * LINE_MAX;
const REMEMBERED: usize = 3;
/// So many lines of all children of an upstream are kept for a person to read.
const SHOWN: usize = 100;
const REMEMBERED_LINE_MAX: usize = 200;
/// So many lines are logged in one [`PERIOD`]; the rest is counted.
const LINES_PER_PERIOD: usize = 100;
const PERIOD: Duration = Duration::from_secs(10);

/// The last lines of a child's standard error.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unpoisoned();
        if lines.len() == REMEMBERED {
            lines.pop_front();
        }
        lines.push_back(cut(line, REMEMBERED_LINE_MAX).to_owned());
    }

    /// Returns the last lines as one, if there were any.
    pub(crate) fn get(&self) -> Option<String> {
        let lines = self.0.lock().unpoisoned();
        (!lines.is_empty()).then(|| lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | "))
    }
}

/// What the children of one upstream wrote to their standard error, for a person to read.
#[derive(Clone, Default)]
pub(crate) struct ErrorOutput(Arc<Mutex<VecDeque<String>>>);

impl ErrorOutput {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unpoisoned();
        if lines.len() == SHOWN {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Returns the last lines, the oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unpoisoned().iter().cloned().collect()
    }
}

/// Where the lines of a child go, beside the log.
pub(crate) struct Readers {
    pub(crate) last_words: LastWords,
    pub(crate) output: ErrorOutput,
    /// Cancelled by the first line that names [`QUESTION`].
    pub(crate) complaint: CancellationToken,
}

/// The method that a server of an old SDK names when it fails on it, without exiting.
const QUESTION: &str = "server/discover";

/// Reads a child's standard error until it ends.
pub(crate) async fn drain(
    mut stream: impl AsyncRead + Unpin,
    name: Arc<str>,
    scrubber: Arc<Scrubber>,
    readers: Readers,
) {
    let mut log = MeasuredLog { name, period: Instant::now(), logged: 0, left_out: 0 };
    let (mut buffer, mut line) = (vec![0; 8192], Vec::new());
    loop {
        // A stream that cannot be read has ended for us.
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            // The rest of a line that is too long is dropped here, so a flood without line breaks costs nothing.
            let room = READ_MAX - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                finish(&mut line, &mut log, &scrubber, &readers);
            }
        }
        if count == 0 {
            finish(&mut line, &mut log, &scrubber, &readers);
            return log.flush();
        }
    }
}

fn finish(line: &mut Vec<u8>, log: &mut MeasuredLog, scrubber: &Scrubber, readers: &Readers) {
    let text = scrubber.scrub(String::from_utf8_lossy(line).trim());
    let text = cut(&text, LINE_MAX);
    line.clear();
    if text.contains(QUESTION) {
        readers.complaint.cancel();
    }
    if !text.is_empty() {
        readers.last_words.push(text);
        readers.output.push(text);
        log.line(text);
    }
}

struct MeasuredLog {
    name: Arc<str>,
    period: Instant,
    logged: usize,
    left_out: usize,
}

impl MeasuredLog {
    fn line(&mut self, text: &str) {
        if self.period.elapsed() >= PERIOD {
            self.flush();
        }
        if self.logged < LINES_PER_PERIOD {
            self.logged += 1;
            // Under a name of its own, which a filter has to ask for: servers log what callers give them.
            tracing::debug!(target: "upstream", server = %self.name, "stderr: {text}");
        } else {
            self.left_out += 1;
        }
    }

    fn flush(&mut self) {
        if self.left_out > 0 {
            tracing::debug!(target: "upstream", server = %self.name, lines = self.left_out, "stderr: further lines left out");
        }
        (self.period, self.logged, self.left_out) = (Instant::now(), 0, 0);
    }
}
