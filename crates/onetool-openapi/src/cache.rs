//! Plans cached on disk, so that an unchanged description is not planned again.
//!
//! A file contains a key derived from the description and the options, a checksum, and the plan, in a private format.
//! A file that does not match is ignored and overwritten.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use onetool_core::ToolAnnotations;
use sha2::{Digest as _, Sha256};

use crate::location::Location;
use crate::options::PlanOptions;
use crate::plan::model::{Operation, Plan, PlanHeader};
use crate::store::{Span, Store};

/// Increment when the contents or the meaning of a plan change.
const FORMAT: u32 = 4;
const MAGIC: &[u8; 8] = b"onetoolA";
const KEY_LENGTH: usize = 32;

/// The cache file of one plan.
pub(crate) struct CacheFile {
    path: PathBuf,
    key: [u8; KEY_LENGTH],
}

impl CacheFile {
    /// Returns the cache file for a description with the given options.
    pub(crate) fn new(directory: &Path, document: &[u8], location: &Location, options: &PlanOptions) -> Self {
        let mut hasher = Sha256::new();
        let inputs = serde_json::json!([
            FORMAT,
            env!("CARGO_PKG_VERSION"),
            location.to_string(),
            options.name,
            options.include,
            options.exclude,
            options.read_only,
            options.operations,
        ]);
        hasher.update(inputs.to_string());
        hasher.update([0]);
        hasher.update(document);
        let key: [u8; KEY_LENGTH] = hasher.finalize().into();
        // Half of the key is enough for a file name; the file contains the whole key.
        let name = u128::from_be_bytes(std::array::from_fn(|at| key[at]));
        Self { path: directory.join(format!("{name:032x}.plan")), key }
    }

    /// Reads the plan; returns `None` if there is no valid one.
    pub(crate) fn read(&self) -> Option<Plan> {
        let bytes = fs::read(&self.path).ok()?;
        let plan = decode(bytes, &self.key);
        if plan.is_none() {
            tracing::debug!(path = %self.path.display(), "a cached plan is corrupt and will be rebuilt");
        }
        plan
    }

    /// Writes the plan, replacing an old one atomically.
    pub(crate) fn write(&self, plan: &Plan) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        // A temporary file is created with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&encode(plan, &self.key)?)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

pub(crate) fn encode(plan: &Plan, key: &[u8; KEY_LENGTH]) -> io::Result<Vec<u8>> {
    let mut out = Writer(Vec::with_capacity(plan.store.text.len() + plan.operations.len() * 512));
    out.text(&serde_json::to_string(&plan.header)?)?;
    out.number(plan.operations.len())?;
    for operation in &plan.operations {
        let Operation { key, name, description, annotations, server, call, input, output } = operation;
        out.text(key)?;
        out.text(name)?;
        out.text(description)?;
        out.text(server.as_deref().unwrap_or_default())?;
        out.0.push(encode_hints(*annotations));
        out.span(*call);
        out.span(*input);
        out.span(output.unwrap_or_default());
    }
    out.number(plan.store.definitions.len())?;
    for (name, schema) in &plan.store.definitions {
        out.span(*name);
        out.span(*schema);
    }
    // The store comes last, so that decoding can reuse the buffer instead of copying it.
    out.0.extend_from_slice(plan.store.text.as_bytes());
    let mut file = Vec::with_capacity(out.0.len() + 64);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(key);
    file.extend_from_slice(&crc32fast::hash(&out.0).to_le_bytes());
    file.extend_from_slice(&out.0);
    Ok(file)
}

pub(crate) fn decode(mut bytes: Vec<u8>, key: &[u8; KEY_LENGTH]) -> Option<Plan> {
    let mut reader = Reader(&bytes);
    if reader.take(MAGIC.len())? != MAGIC || reader.take(KEY_LENGTH)? != key {
        return None;
    }
    let checksum = reader.number()?;
    if crc32fast::hash(reader.0) != checksum {
        return None;
    }
    let header: PlanHeader = serde_json::from_str(&reader.text()?).ok()?;
    let count = reader.number()?;
    let mut operations = Vec::with_capacity((count as usize).min(reader.0.len()));
    for _ in 0..count {
        let (key, name, description, server) =
            (reader.text()?, reader.text()?, reader.text()?, reader.text()?);
        operations.push(Operation {
            key,
            name,
            description,
            server: Some(server).filter(|it| !it.is_empty()),
            annotations: decode_hints(reader.take(1)?[0]),
            call: reader.span()?,
            input: reader.span()?,
            output: Some(reader.span()?).filter(|it| it.length > 0),
        });
    }
    let count = reader.number()?;
    let mut definitions = Vec::with_capacity((count as usize).min(reader.0.len()));
    for _ in 0..count {
        definitions.push((reader.span()?, reader.span()?));
    }
    let start = bytes.len() - reader.0.len();
    bytes.drain(..start);
    bytes.shrink_to_fit();
    let text = String::from_utf8(bytes).ok()?;
    Some(Plan { header, operations, store: Store { text, definitions } })
}

/// Encodes hints with two bits each: unset, false, true.
fn encode_hints(hints: ToolAnnotations) -> u8 {
    let ToolAnnotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint } = hints;
    let bits = |hint: Option<bool>| hint.map_or(0, |it| 1 + u8::from(it));
    bits(read_only_hint)
        | bits(destructive_hint) << 2
        | bits(idempotent_hint) << 4
        | bits(open_world_hint) << 6
}

fn decode_hints(byte: u8) -> ToolAnnotations {
    let hint = |shift: u8| match byte >> shift & 3 {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    };
    ToolAnnotations {
        read_only_hint: hint(0),
        destructive_hint: hint(2),
        idempotent_hint: hint(4),
        open_world_hint: hint(6),
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: usize) -> io::Result<()> {
        let number = u32::try_from(number).map_err(io::Error::other)?;
        self.0.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len())?;
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn span(&mut self, span: Span) {
        self.0.extend_from_slice(&span.start.to_le_bytes());
        self.0.extend_from_slice(&span.length.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn span(&mut self) -> Option<Span> {
        Some(Span { start: self.number()?, length: self.number()? })
    }
}
