//! A client that calls the gateway all the time and does no harm.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::gateway::{Gateway, TOKEN};
use crate::http::HttpClient;

/// The responses since the last look.
#[derive(Debug, Default)]
pub(super) struct Responses {
    pub(super) count: u32,
    pub(super) worst: Duration,
    failure: Option<String>,
}

pub(super) struct Innocent {
    responses: Arc<Mutex<Responses>>,
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Innocent {
    pub(super) fn start(gateway: &Gateway) -> Result<Self> {
        let mut client = HttpClient::start_with(&gateway.url, Some(TOKEN))?;
        let (responses, is_done) = (Arc::<Mutex<Responses>>::default(), Arc::<AtomicBool>::default());
        let (seen, stop) = (responses.clone(), is_done.clone());
        let thread = std::thread::spawn(move || {
            for id in 1.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // Alternates between a ping and a tool.
                let request = match id % 2 {
                    0 => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
                    _ => json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                        "params": {"name": "tool_find", "arguments": {"query": "read a file"}}}),
                };
                let response = client.request(&request, id);
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                match response {
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
        Ok(Self { responses, is_done, thread })
    }

    /// Returns the responses since the last call; fails if a request failed.
    pub(super) fn take(&self) -> Result<Responses> {
        // Wait for a response that is late now.
        std::thread::sleep(Duration::from_millis(100));
        let responses = std::mem::take(&mut *self.responses.lock().unwrap_or_else(PoisonError::into_inner));
        match responses.failure {
            Some(failure) => bail!("the innocent client failed: {failure}"),
            None => Ok(responses),
        }
    }

    pub(super) fn stop(self) -> Result<()> {
        self.is_done.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the innocent client panicked")
    }
}
