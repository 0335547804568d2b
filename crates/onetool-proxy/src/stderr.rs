//! A child's standard error: always read to the end, logged up to a rate, with the last lines kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::Redactor;
use onetool_core::sync::Unpoisoned as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scrub::truncate;

/// Maximum length of a line that is logged and shown.
const LINE_MAX: usize = 2000;
/// Maximum length of a line that is read: more than is shown, so that a secret at the cut is complete when it is
/// redacted.
const READ_MAX: usize = 2 * LINE_MAX;
/// Number of lines in the error message of a child, and their maximum length.
const LAST_LINES: usize = 3;
const LAST_LINE_MAX: usize = 200;
/// Number of lines of all children of an upstream that are kept for the operator.
const HISTORY: usize = 100;
/// Maximum number of lines logged in one [`PERIOD`]; the others are only counted.
const LINES_PER_PERIOD: usize = 100;
const PERIOD: Duration = Duration::from_secs(10);

/// The last lines of one child's standard error, for error messages.
#[derive(Clone, Default)]
pub(crate) struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unpoisoned();
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(truncate(line, LAST_LINE_MAX).to_owned());
    }

    /// Returns the last lines as one, if there are any.
    pub(crate) fn get(&self) -> Option<String> {
        let lines = self.0.lock().unpoisoned();
        (!lines.is_empty()).then(|| lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | "))
    }
}

/// The last lines that all children of an upstream wrote to standard error, for the operator.
#[derive(Clone, Default)]
pub(crate) struct StderrHistory(Arc<Mutex<VecDeque<String>>>);

impl StderrHistory {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unpoisoned();
        if lines.len() == HISTORY {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Returns the lines, the oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unpoisoned().iter().cloned().collect()
    }
}

/// Where the lines of a child go, in addition to the log.
pub(crate) struct StderrSinks {
    pub(crate) last_lines: LastLines,
    pub(crate) history: StderrHistory,
    /// Canceled by the first line that contains [`DISCOVER`].
    pub(crate) discover_mentioned: CancellationToken,
}

/// The method that servers of old SDKs mention in an error when they fail on it without exiting.
const DISCOVER: &str = "server/discover";

/// Reads a child's standard error to the end.
pub(crate) async fn drain(
    mut stream: impl AsyncRead + Unpin,
    name: Arc<str>,
    redactor: Redactor,
    sinks: StderrSinks,
) {
    let mut log = RateLimitedLog { name, period_start: Instant::now(), logged: 0, skipped: 0 };
    let (mut buffer, mut line) = (vec![0; 8192], Vec::new());
    loop {
        // A read error is treated as the end of the stream.
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            // The rest of a line over the limit is dropped, so a flood without line breaks takes no memory.
            let room = READ_MAX - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                finish_line(&mut line, &mut log, &redactor, &sinks);
            }
        }
        if count == 0 {
            finish_line(&mut line, &mut log, &redactor, &sinks);
            return log.start_period();
        }
    }
}

fn finish_line(line: &mut Vec<u8>, log: &mut RateLimitedLog, redactor: &Redactor, sinks: &StderrSinks) {
    let line_text = String::from_utf8_lossy(line);
    let text = redactor.scrub(line_text.trim());
    let text = truncate(&text, LINE_MAX);
    if text.contains(DISCOVER) {
        sinks.discover_mentioned.cancel();
    }
    if !text.is_empty() {
        sinks.last_lines.push(text);
        sinks.history.push(text);
        log.line(text);
    }
    line.clear();
}

struct RateLimitedLog {
    name: Arc<str>,
    period_start: Instant,
    logged: usize,
    skipped: usize,
}

impl RateLimitedLog {
    fn line(&mut self, text: &str) {
        if self.period_start.elapsed() >= PERIOD {
            self.start_period();
        }
        if self.logged < LINES_PER_PERIOD {
            self.logged += 1;
            // A separate target, which a filter has to name: servers log what callers send them.
            tracing::debug!(target: "upstream", server = %self.name, "stderr: {text}");
        } else {
            self.skipped += 1;
        }
    }

    /// Logs how many lines were skipped, and starts a new period.
    fn start_period(&mut self) {
        if self.skipped > 0 {
            tracing::debug!(target: "upstream", server = %self.name, lines = self.skipped, "stderr: more lines skipped");
        }
        (self.period_start, self.logged, self.skipped) = (Instant::now(), 0, 0);
    }
}
