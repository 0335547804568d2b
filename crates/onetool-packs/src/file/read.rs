//! `file.read`: a file, or a part of it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use onetool_core::{ContentBlock, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileError;
use crate::blocking::Stop;
use crate::roots::{Place, Roots};

/// Maximum number of bytes in a result.
const MAX_BYTES: usize = 1024 * 1024;
const DEFAULT_LINES: u64 = 2000;
const DEFAULT_BYTES: u64 = 64 * 1024;

/// The unit of `offset` and `limit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Lines,
    Bytes,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// The file, relative to the first root or absolute inside one.
    path: String,
    /// Where to start: the first line is 1, the first byte is 0.
    offset: Option<u64>,
    /// How much to read, at most 1 MiB. Default: 2000 lines or 65536 bytes.
    limit: Option<u64>,
    /// Unit of offset and limit: lines of text, or bytes of any file.
    #[serde(default)]
    unit: Unit,
}

/// A part of a file.
struct Part {
    text: String,
    /// The number of lines read.
    count: u64,
    /// Where the next part starts, if there is one.
    next: Option<u64>,
}

pub(super) fn read(roots: &Roots, args: Read, stop: &Stop) -> Result<ToolOutput, FileError> {
    let place = roots.place(&args.path)?;
    let (file, stat) = place.open_file()?;
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let (unit, part) = match args.unit {
        Unit::Lines => {
            let offset = args.offset.unwrap_or(1);
            if offset == 0 {
                return Err(FileError::Offset { min: 1, offset });
            }
            ("lines", lines(&place, file, offset, args.limit.unwrap_or(DEFAULT_LINES), stop)?)
        }
        Unit::Bytes => {
            let limit = args.limit.unwrap_or(DEFAULT_BYTES).min(MAX_BYTES as u64);
            return bytes(&place, &file, args.offset.unwrap_or(0), limit, size);
        }
    };
    let mut data = json!({"path": place.shown(), "text": part.text, unit: part.count, "size": size});
    let mut content = vec![ContentBlock::text(part.text)];
    if let Some(next) = part.next {
        data["next_offset"] = next.into();
        content.push(ContentBlock::text(format!("(there is more; continue with offset={next})")));
    }
    Ok(ToolOutput { content, structured_content: Some(data), ..ToolOutput::default() })
}

/// Reads lines. Memory use is bounded by the size of a result, not of the file.
fn lines(place: &Place, file: File, offset: u64, limit: u64, stop: &Stop) -> Result<Part, FileError> {
    let failed = |error| place.failed("read", error);
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut number = 1;
    while number < offset {
        if !skip_line(&mut reader).map_err(failed)? || stop.is_set() {
            return Ok(Part { text: String::new(), count: 0, next: None });
        }
        number += 1;
    }
    let mut text = Vec::new();
    let mut count = 0;
    loop {
        if reader.fill_buf().map_err(failed)?.is_empty() {
            return finished(place, text, count, None);
        }
        if count == limit || stop.is_set() {
            return finished(place, text, count, Some(offset + count));
        }
        let line_start = text.len();
        let is_within_limit = read_line(&mut reader, &mut text).map_err(failed)?;
        if !is_within_limit && line_start == 0 {
            let line = offset + count;
            return Err(if text.contains(&0) {
                FileError::Binary { path: place.shown() }
            } else {
                FileError::LongLine { path: place.shown(), line, max: MAX_BYTES }
            });
        }
        if !is_within_limit {
            text.truncate(line_start);
            return finished(place, text, count, Some(offset + count));
        }
        count += 1;
    }
}

fn finished(place: &Place, text: Vec<u8>, count: u64, next: Option<u64>) -> Result<Part, FileError> {
    let binary = || FileError::Binary { path: place.shown() };
    let text = String::from_utf8(text).map_err(|_| binary())?;
    if text.contains('\0') { Err(binary()) } else { Ok(Part { text, count, next }) }
}

/// Skips one line; returns whether it ended with a line break.
fn skip_line(reader: &mut impl BufRead) -> std::io::Result<bool> {
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(length);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Appends one line with its line break; returns whether all of it was within the limit.
fn read_line(reader: &mut impl BufRead, text: &mut Vec<u8>) -> std::io::Result<bool> {
    loop {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        if text.len() + length > MAX_BYTES {
            return Ok(false);
        }
        text.extend_from_slice(&buffer[..length]);
        let is_end = end.is_some() || buffer.is_empty();
        reader.consume(length);
        if is_end {
            return Ok(true);
        }
    }
}

/// Reads bytes at any offset of the file.
fn bytes(place: &Place, file: &File, offset: u64, limit: u64, size: u64) -> Result<ToolOutput, FileError> {
    let mut buffer = vec![0; usize::try_from(limit).unwrap_or(MAX_BYTES)];
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(place.failed("read", error).into()),
        }
    }
    buffer.truncate(filled);
    let end = offset + filled as u64;
    let mut data = json!({"path": place.shown(), "bytes": filled, "size": size});
    match String::from_utf8(buffer) {
        Ok(text) if !text.contains('\0') => data["text"] = Value::String(text),
        Ok(text) => data["base64"] = BASE64.encode(text).into(),
        Err(error) => data["base64"] = BASE64.encode(error.as_bytes()).into(),
    }
    if end < size {
        data["next_offset"] = end.into();
    }
    Ok(ToolOutput::structured(data))
}
