//! A client that does nobody any harm, and asks something all the time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::gateway::{Gateway, TOKEN};
use crate::bench::http::HttpClient;

/// What it got since somebody last looked.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) count: u32,
    pub(super) worst: Duration,
    failure: Option<String>,
}

pub(super) struct Innocent {
    answers: Arc<Mutex<Answers>>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Innocent {
    pub(super) fn start(gateway: &Gateway) -> Result<Self> {
        let mut client = HttpClient::start_with(&gateway.url, Some(TOKEN))?;
        let (answers, is_over) = (Arc::<Mutex<Answers>>::default(), Arc::<AtomicBool>::default());
        let (seen, stop) = (answers.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            for id in 1.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // Now a sign of life, now a tool.
                let request = match id % 2 {
                    0 => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
                    _ => json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                        "params": {"name": "tool_find", "arguments": {"query": "read a file"}}}),
                };
                let answer = client.request(&request, id);
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                match answer {
                    Ok(time) => {
                        seen.count += 1;
                        seen.worst = seen.worst.max(time);
                    }
                    Err(error) => {
                        seen.failure = Some(format!("{error:#}"));
                        return;
                    }
                }
                drop(seen);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Ok(Self { answers, is_over, thread })
    }

    /// Returns what it got since the last time; fails if something was not answered.
    pub(super) fn take(&self) -> Result<Answers> {
        // So that an answer that is late now counts now.
        std::thread::sleep(Duration::from_millis(100));
        let answers = std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner));
        match answers.failure {
            Some(failure) => bail!("the innocent client got no answer: {failure}"),
            None => Ok(answers),
        }
    }

    pub(super) fn stop(self) -> Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the innocent client panicked")
    }
}
