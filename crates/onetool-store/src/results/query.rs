//! Reading a stored result in parts.

use std::ops::Range;

use onetool_core::json_weight;
use serde::Serialize;
use serde_json::Value;

use super::answer::affordable;
use super::error::QueryError;
use super::lines::{LINE_MAX, has_long, lines};
use super::search::Search;
use super::stop::Stop;
use super::{ResultHandle, path};

/// Most bytes that a result takes as data.
const MAX_DATA: usize = 256 << 20;

/// Which lines of which result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultQuery {
    /// The result.
    pub handle: ResultHandle,
    /// The first line, counted from 1.
    pub offset: i64,
    /// How many lines at most.
    pub limit: i64,
    /// Only lines that match this regular expression; offset and limit count those.
    pub search: Option<String>,
    /// Takes `search` as words instead, and gives the lines that are like them, the best first.
    pub fuzzy: bool,
    /// Reads this part of stored JSON, such as `a.b[0]`, instead of the whole.
    pub path: Option<String>,
    /// Says for a search also the position of each line and what in it matched, which a person wants to see.
    pub with_places: bool,
    /// How large the page may be, in bytes of whatever format it is written in; it has at least one line.
    pub max_size: usize,
}

impl ResultQuery {
    /// Asks for the first 100 lines.
    pub fn new(handle: impl Into<ResultHandle>) -> Self {
        Self {
            handle: handle.into(),
            offset: 1,
            limit: 100,
            search: None,
            fuzzy: false,
            path: None,
            with_places: false,
            max_size: usize::MAX,
        }
    }

    pub(super) fn check(&self) -> Result<(), QueryError> {
        match self {
            Self { offset, .. } if *offset < 1 => Err(QueryError::Offset(*offset)),
            Self { limit, .. } if *limit < 1 => Err(QueryError::Limit(*limit)),
            Self { fuzzy: true, search: None, .. } => Err(QueryError::FuzzyWithoutSearch),
            _ => Ok(()),
        }
    }

    /// Reads the lines out of a stored text; gives up when `stop` says so.
    pub(super) fn page(&self, text: &str, is_json: bool, stop: &Stop) -> Result<ResultPage, QueryError> {
        let picked = self.path.as_deref().map(|path| self.pick(text, is_json, path)).transpose()?;
        let text = picked.as_deref().unwrap_or(text);
        let search = self.search.as_deref().map(|text| Search::new(text, self.fuzzy)).transpose()?;
        let found = search.as_ref().map(|search| search.find(text, stop)).transpose()?;
        let lines: Vec<&str> = lines(text).collect();
        let count = found.as_ref().map_or(lines.len(), Vec::len);
        let chosen: Vec<usize> = match &found {
            Some(found) => found[self.lines_of(count)].to_vec(),
            None => self.lines_of(count).collect(),
        };
        let shown = chosen.iter().map(|at| lines[*at]);
        let mut page = self.page_with(shown, count, lines.len(), has_long(text));
        let chosen = &chosen[..page.returned];
        page.matches = found.as_ref().map(Vec::len);
        if let Some(search) = search.filter(|_| self.with_places) {
            page.numbers = chosen.iter().map(|at| at + 1).collect();
            for at in chosen {
                stop.check()?;
                page.marks.push(search.marks(lines[*at]));
            }
        }
        Ok(page)
    }

    /// Makes a page of as many of the lines that were asked for as it may hold. `count` is how many there are to choose
    /// from, be they all or those that were found.
    pub(super) fn page_with<'a>(
        &self,
        asked: impl ExactSizeIterator<Item = &'a str> + Clone,
        count: usize,
        total_lines: usize,
        has_long: bool,
    ) -> ResultPage {
        let returned = affordable(asked.clone(), self.max_size).min(asked.len());
        let is_cut = returned < asked.len();
        let split =
            has_long.then(|| format!("a line of more than {LINE_MAX} characters is split into several"));
        let next = self.offset.saturating_add(i64::try_from(returned).unwrap_or(i64::MAX));
        let cut = is_cut.then(|| format!("cut to fit output.max_inline_size, continue with offset={next}"));
        let notes: Vec<String> = split.into_iter().chain(cut).collect();
        ResultPage {
            lines: asked.take(returned).map(str::to_owned).collect(),
            total_lines,
            returned,
            offset: self.offset,
            has_more: self.lines_of(count).start + returned < count,
            matches: None,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            numbers: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Returns which of `total` lines are requested, counted from 0.
    pub(super) fn lines_of(&self, total: usize) -> Range<usize> {
        let first = usize::try_from(self.offset - 1).unwrap_or(usize::MAX).min(total);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        first..first.saturating_add(limit).min(total)
    }

    /// Returns the part at `path` as lines: a string as its text, anything else as indented JSON.
    fn pick(&self, text: &str, is_json: bool, path: &str) -> Result<String, QueryError> {
        if !is_json {
            return Err(QueryError::NotJson { handle: self.handle.clone() });
        }
        let value = parse(&self.handle, text)?;
        match path::pick(&value, path)? {
            Value::String(text) => Ok(text.clone()),
            part => Ok(serde_json::to_string_pretty(part).unwrap_or_default()),
        }
    }
}

pub(super) fn parse(handle: &ResultHandle, text: &str) -> Result<Value, QueryError> {
    if json_weight(text.as_bytes()) > MAX_DATA {
        return Err(QueryError::TooLarge { handle: handle.clone() });
    }
    serde_json::from_str(text).map_err(|source| QueryError::Unreadable { handle: handle.clone(), source })
}

/// Some lines of a stored result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResultPage {
    /// The lines.
    pub lines: Vec<String>,
    /// How many lines the whole result has, or the part of it that the path names; long lines are split into several.
    pub total_lines: usize,
    /// How many lines are here.
    pub returned: usize,
    /// The first of them, counted from 1.
    pub offset: i64,
    /// Whether there are lines after these.
    pub has_more: bool,
    /// How many lines the search found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
    /// What is unlike what was stored or asked for: lines that were split, a page that was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The position of each line in the whole result, counted from 1; for a search that asks for places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<usize>,
    /// What matched in each line, as begin and end in UTF-16 units; for a search that asks for places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Vec<(usize, usize)>>,
}
