//! Results that are stored while they arrive, so that only a part of them is ever in memory (O6).

use std::sync::Arc;

use onetool_core::state::StoreError;
use onetool_core::{BoxFuture, Caller, Overflow, OverflowStore, ToolError};
use serde_json::Value;

use super::body::{Prepared, counted, readable_size};
use super::indent::Indenter;
use super::lines::{has_long, last_cut, lines};
use super::{ResultHandle, ResultInfo, ResultStore, StoredResult};
use crate::store::{KeptResult, KeptText, ResultPart, Store};

/// How large a part is; a longer line is split between two of its pieces.
const PART: usize = 1 << 20;
/// How much of the beginning is remembered, for the preview.
const BEGINNING: usize = 64 << 10;

impl OverflowStore for ResultStore {
    fn begin(&self, caller: &Caller, is_json: bool) -> Box<dyn Overflow> {
        Box::new(ResultStream {
            results: self.clone(),
            store: self.0.store.clone(),
            owner: caller.clone(),
            handle: ResultHandle::random(),
            is_json,
            undecoded: Vec::new(),
            indenter: None,
            is_begun: false,
            text: String::new(),
            beginning: String::new(),
            lines: 0,
            has_long_lines: false,
            size: 0,
            is_finished: false,
        })
    }
}

struct ResultStream {
    results: ResultStore,
    store: Arc<dyn Store>,
    owner: Caller,
    handle: ResultHandle,
    is_json: bool,
    /// The beginning of a character that is not complete yet.
    undecoded: Vec<u8>,
    indenter: Option<Indenter>,
    is_begun: bool,
    /// What is not stored yet.
    text: String,
    beginning: String,
    /// What is stored.
    lines: usize,
    has_long_lines: bool,
    size: u64,
    is_finished: bool,
}

impl ResultStream {
    /// Adds bytes as text. What is not UTF-8 becomes a replacement character.
    fn take_in(&mut self, bytes: &[u8]) {
        self.undecoded.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.undecoded);
        let mut chunks = pending.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.add(chunk.valid());
            match chunk.invalid() {
                [] => {}
                cut if chunks.peek().is_none() && is_cut(cut) => self.undecoded.extend_from_slice(cut),
                _ => self.add("\u{fffd}"),
            }
        }
    }

    fn add(&mut self, text: &str) {
        if !std::mem::replace(&mut self.is_begun, true) && self.is_json && !text.trim().contains('\n') {
            self.indenter = Some(Indenter::default());
        }
        match &mut self.indenter {
            Some(indenter) => indenter.push(text, &mut self.text),
            None => self.text.push_str(text),
        }
    }

    /// Stores all but what may still be one part with what comes next.
    async fn store_parts(&mut self) -> Result<(), StoreError> {
        while self.text.len() >= PART {
            let end = match self.text[..self.text.floor_char_boundary(PART)].rfind('\n') {
                Some(line_end) => line_end + 1,
                // Where a line is split anyway, so that its pieces are the same in parts and in one.
                None => {
                    let end = self.text.floor_char_boundary(PART);
                    last_cut(&self.text[..end]).unwrap_or(end)
                }
            };
            let rest = self.text.split_off(end);
            let part = std::mem::replace(&mut self.text, rest);
            self.store_part(part).await?;
        }
        Ok(())
    }

    async fn store_part(&mut self, part: String) -> Result<(), StoreError> {
        let size = self.size + part.len() as u64;
        let max = self.store.max_result().min(self.results.0.options.get().max_store);
        if size > max {
            return Err(StoreError::TooLarge { size, max });
        }
        if self.beginning.is_empty() {
            part[..part.floor_char_boundary(BEGINNING)].clone_into(&mut self.beginning);
        }
        let lines = lines(&part).count();
        self.has_long_lines |= has_long(&part);
        let part = ResultPart { first_line: self.lines, text: part };
        self.store.add_result_part(&self.handle, part, self.results.0.clock.now()).await?;
        self.lines += lines;
        self.size = size;
        Ok(())
    }

    async fn end(&mut self) -> Result<StoredResult, StoreError> {
        if !std::mem::take(&mut self.undecoded).is_empty() {
            self.add("\u{fffd}");
        }
        self.store_parts().await?;
        let rest = std::mem::take(&mut self.text);
        if !rest.is_empty() {
            self.store_part(rest).await?;
        }
        let options = self.results.0.options.get();
        let now = self.results.0.clock.now();
        let info = ResultInfo {
            handle: self.handle.clone(),
            is_json: self.is_json,
            created_at: now,
            expires_at: now.after(*options.result_ttl),
            total_lines: self.lines,
            size_bytes: self.size,
        };
        // What is empty has no parts.
        let text = if self.size == 0 { KeptText::Whole(String::new()) } else { KeptText::InParts };
        self.store.add_result(&self.owner, KeptResult { info, text }, options.max_store).await?;
        self.is_finished = true;
        let kind = if self.is_json { "JSON" } else { "text" };
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let prepared = Prepared {
            summary: format!("{kind}; {}, {}", counted(self.lines, self.has_long_lines), readable_size(size)),
            text: std::mem::take(&mut self.beginning),
            is_json: self.is_json,
            total_lines: self.lines,
        };
        Ok(StoredResult::new(self.handle.clone(), &prepared, options.preview_lines, self.size))
    }
}

/// Returns whether these bytes could be the beginning of a character.
fn is_cut(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn failed(error: &StoreError) -> ToolError {
    ToolError::failed(format!("the result is too large to return and cannot be stored: {error}"))
}

impl Overflow for ResultStream {
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            // In steps, so that a large piece is not in memory twice.
            for step in bytes.chunks(PART) {
                self.take_in(step);
                self.store_parts().await.map_err(|error| failed(&error))?;
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, Result<Value, ToolError>> {
        Box::pin(async move {
            let stored = self.end().await.map_err(|error| failed(&error))?;
            drop(self.results.start_clean_up());
            Ok(stored.answer())
        })
    }
}

impl Drop for ResultStream {
    fn drop(&mut self) {
        if !self.is_finished && self.lines > 0 {
            // Nobody waits for it.
            drop(self.store.drop_result_parts(&self.handle));
        }
    }
}
