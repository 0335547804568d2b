//! Results in memory.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use onetool_core::Caller;
use onetool_core::clock::Timestamp;
use onetool_core::state::StoreError;

use crate::store::{KeptResult, KeptText, ResultHandle, ResultInfo, ResultPart};

/// Results and their parts.
#[derive(Default)]
pub(super) struct Results {
    /// How many results there have been, to tell which one came later.
    count: u64,
    by_handle: HashMap<ResultHandle, Owned>,
    parts: HashMap<ResultHandle, BTreeMap<usize, Part>>,
}

struct Owned {
    owner: Caller,
    number: u64,
    result: KeptResult,
}

struct Part {
    at: Timestamp,
    text: String,
}

impl Owned {
    fn is_readable(&self) -> bool {
        self.result.text != KeptText::Deleted
    }
}

impl Results {
    /// Adds a result; deletes the text of the oldest ones until all together have at most `max` bytes.
    pub(super) fn add(&mut self, owner: &Caller, result: KeptResult, max: u64) -> Result<(), StoreError> {
        let handle = result.info.handle.clone();
        if self.by_handle.contains_key(&handle) {
            return Err(StoreError::Failed("there is already a result with this handle".into()));
        }
        self.make_room(max.saturating_sub(result.info.size_bytes));
        self.count += 1;
        self.by_handle.insert(handle, Owned { owner: owner.clone(), number: self.count, result });
        Ok(())
    }

    fn make_room(&mut self, max: u64) {
        let mut newest_first: Vec<&mut Owned> =
            self.by_handle.values_mut().filter(|it| it.is_readable()).collect();
        newest_first.sort_by_key(|it| std::cmp::Reverse((it.result.info.created_at, it.number)));
        let mut total = 0_u64;
        for Owned { result: KeptResult { info, text }, .. } in newest_first {
            total = total.saturating_add(info.size_bytes);
            if total > max {
                *text = KeptText::Deleted;
                info.expires_at = info.expires_at.min(info.created_at);
                self.parts.remove(&info.handle);
            }
        }
    }

    pub(super) fn add_part(
        &mut self,
        handle: &ResultHandle,
        part: ResultPart,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let parts = self.parts.entry(handle.clone()).or_default();
        if parts.contains_key(&part.first_line) {
            return Err(StoreError::Failed("there is already a part with this line".into()));
        }
        parts.insert(part.first_line, Part { at, text: part.text });
        Ok(())
    }

    pub(super) fn drop_parts(&mut self, handle: &ResultHandle) {
        self.parts.remove(handle);
    }

    pub(super) fn get(&self, owner: &Caller, handle: &ResultHandle) -> Option<&KeptResult> {
        self.by_handle.get(handle).filter(|it| it.owner == *owner).map(|it| &it.result)
    }

    /// Returns the parts that contain any of these lines.
    pub(super) fn parts(
        &self,
        owner: &Caller,
        handle: &ResultHandle,
        lines: Range<usize>,
    ) -> Vec<ResultPart> {
        let (Some(_), Some(parts)) = (self.get(owner, handle), self.parts.get(handle)) else {
            return Vec::new();
        };
        let first = parts.range(..=lines.start).next_back().map_or(0, |(first_line, _)| *first_line);
        let part = |(first_line, part): (&usize, &Part)| ResultPart {
            first_line: *first_line,
            text: part.text.clone(),
        };
        parts.range(first..lines.end.max(first)).map(part).collect()
    }

    /// Returns the results that can still be read, the newest first.
    pub(super) fn list(&self, owner: &Caller, now: Timestamp) -> Vec<ResultInfo> {
        let is_listed =
            |it: &&Owned| it.owner == *owner && it.result.info.expires_at > now && it.is_readable();
        let mut list: Vec<ResultInfo> =
            self.by_handle.values().filter(is_listed).map(|it| it.result.info.clone()).collect();
        list.sort_by(|a, b| {
            b.created_at.cmp(&a.created_at).then_with(|| a.handle.as_str().cmp(b.handle.as_str()))
        });
        list
    }

    pub(super) fn expire(&mut self, now: Timestamp, forget: Timestamp) {
        let Self { by_handle, parts, .. } = self;
        for (handle, it) in &mut *by_handle {
            if it.result.info.expires_at <= now.max(forget) && it.is_readable() {
                it.result.text = KeptText::Deleted;
                parts.remove(handle);
            }
        }
        by_handle.retain(|_, it| it.result.info.expires_at > forget);
        // What results left behind that were never completed.
        parts.retain(|handle, parts| {
            if !by_handle.contains_key(handle) {
                parts.retain(|_, part| part.at > forget);
            }
            !parts.is_empty()
        });
    }
}
