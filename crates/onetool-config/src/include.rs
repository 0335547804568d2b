//! Reads files into one tree: `include`, and how included files are merged.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::map::Entry as Slot;
use rustix::fs::OFlags;

use crate::error::{ConfigError, KNOWN_VERSION};
use crate::loaded::LoadedFile;
use crate::parse::{Budget, MAX_DEPTH, parse};
use crate::tree::{Entry, Kind, Location, Node};

/// Maximum size of a configuration file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the file at `path` and everything it includes; returns the merged tree and the files.
pub(crate) fn read_tree(path: &Path) -> Result<(Node, Vec<LoadedFile>), ConfigError> {
    let mut includes = Includes::default();
    let tree = includes.read(path, None)?;
    Ok((tree, includes.files))
}

/// Reads a text file; `at` is the line that names it.
pub(crate) fn read_text(path: &Path, at: Option<&Location>) -> Result<String, ConfigError> {
    let mut text = String::new();
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe must not block, and a terminal must not become our controlling terminal.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    let outcome = options.open(path).and_then(|file| {
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::Error::other("it is a directory"));
        }
        if !kind.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        match file.take(MAX_BYTES + 1).read_to_string(&mut text)? as u64 {
            0..=MAX_BYTES => Ok(()),
            _ => Err(io::Error::other("it is larger than 4 MiB")),
        }
    });
    match outcome {
        Ok(()) => Ok(text),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), at: at.cloned(), source }),
    }
}

#[derive(Default)]
struct Includes {
    budget: Budget,
    /// The chain of includes being read, starting with the main file.
    chain: Vec<PathBuf>,
    /// Every file read so far, each once, in order.
    files: Vec<LoadedFile>,
}

impl Includes {
    fn read(&mut self, path: &Path, from: Option<&Location>) -> Result<Node, ConfigError> {
        let text = read_text(path, from)?;
        self.enter(path, from)?;
        let file = LoadedFile::new(path, text.as_bytes());
        if !self.files.contains(&file) {
            self.files.push(file);
        }
        let mut tree = parse(&text, &Arc::from(path), &mut self.budget)?;
        check_version(&tree)?;
        let Kind::Map(entries) = &mut tree.kind else {
            let message = "the file must be a map of settings".into();
            return Err(ConfigError::Syntax { message, hint: None, at: tree.at });
        };
        let includes = entries.shift_remove("include");
        let mut merged: Option<Node> = None;
        for (name, at) in included_files(includes)? {
            let file = path.parent().unwrap_or(path).join(name);
            let next = self.read(&file, Some(&at))?;
            merged = Some(match merged {
                Some(base) => merge_files(base, next),
                None => next,
            });
        }
        self.chain.pop();
        Ok(match merged {
            Some(base) => merge_files(base, tree),
            None => tree,
        })
    }

    /// Adds a file to the chain, under its canonical path.
    fn enter(&mut self, path: &Path, from: Option<&Location>) -> Result<(), ConfigError> {
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(at) = from {
            if let Some(start) = self.chain.iter().position(|it| *it == file) {
                let chain = self.chain.drain(start..).chain([file]).collect();
                return Err(ConfigError::Cycle { chain, at: at.clone() });
            }
            if self.chain.len() >= MAX_DEPTH {
                let message = format!("includes are nested deeper than {MAX_DEPTH} files");
                return Err(ConfigError::Syntax { message, hint: None, at: at.clone() });
            }
        }
        self.chain.push(file);
        Ok(())
    }
}

/// Checks the version before anything else, because a newer version may change what the keys mean.
fn check_version(tree: &Node) -> Result<(), ConfigError> {
    let Some(Entry { value, .. }) = tree.get("version") else {
        return Ok(());
    };
    let Kind::Scalar(scalar) = &value.kind else {
        return Ok(());
    };
    match scalar.value().as_u64() {
        Some(found) if found > KNOWN_VERSION => Err(ConfigError::Version { found, at: value.at.clone() }),
        _ => Ok(()),
    }
}

fn included_files(includes: Option<Entry>) -> Result<Vec<(String, Location)>, ConfigError> {
    let Some(Entry { value, .. }) = includes.filter(|it| !it.value.is_null()) else {
        return Ok(Vec::new());
    };
    let invalid =
        |message: &str, at| ConfigError::Invalid { key: "include".into(), message: message.into(), at };
    let Kind::Seq(items) = value.kind else {
        return Err(invalid("must be a list of files, for example [servers.yaml]", value.at));
    };
    let file = |item: Node| match item.kind {
        Kind::Scalar(scalar) if !scalar.text.is_empty() => Ok((scalar.text, item.at)),
        _ => Err(invalid("every entry must be the path of a file", item.at)),
    };
    items.into_iter().map(file).collect()
}

/// Merges two files. Top-level lists are joined; keys without a value in `winner` are ignored.
fn merge_files(mut base: Node, winner: Node) -> Node {
    let (Kind::Map(base_entries), Kind::Map(entries)) = (&mut base.kind, winner.kind) else {
        return base;
    };
    for (key, mut entry) in entries {
        if entry.value.is_null() && base_entries.contains_key(&key) {
            continue;
        }
        if let Some(under) = base_entries.get_mut(&key)
            && let (Kind::Seq(first), Kind::Seq(more)) = (&mut under.value.kind, &mut entry.value.kind)
        {
            first.append(more);
            continue;
        }
        merge_entry(base_entries.entry(key), entry);
    }
    base.at = winner.at;
    base
}

/// Merges maps into maps; any other value replaces the old one.
fn merge_entry(slot: Slot<'_, String, Entry>, entry: Entry) {
    match slot {
        Slot::Vacant(slot) => {
            slot.insert(entry);
        }
        Slot::Occupied(mut slot) => match (&mut slot.get_mut().value.kind, entry.value.kind) {
            (Kind::Map(base), Kind::Map(winner)) => {
                for (key, entry) in winner {
                    merge_entry(base.entry(key), entry);
                }
            }
            (_, kind) => {
                let value = Node { kind, at: entry.value.at };
                slot.insert(Entry { key_at: entry.key_at, value });
            }
        },
    }
}
