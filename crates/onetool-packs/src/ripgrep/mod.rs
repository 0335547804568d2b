//! The pack `ripgrep`: searches the contents of files with ripgrep's own libraries, in process.

mod collect;
mod options;

use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::available_parallelism;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkParallel, WalkState};
use onetool_config::FilePath;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{CallContext, ContentBlock, Pack, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{Stop, blocking};
use crate::own_files::OwnFiles;
use crate::roots::{PathError, Place, Roots};
use crate::tool::{About, Effect, pack, tool};

pub(crate) use options::RipgrepOptions;

use collect::{Collect, Match, StoppableReader, text_of};

/// More threads than this wait for each other.
const DESCRIPTION: &str = "Searches the contents of files inside the roots that the configuration names.";
const MAX_THREADS: usize = 12;
/// A line longer than this cannot be searched; without a limit one file could take all memory.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// What can go wrong with a search.
#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("the pattern is no regular expression; with literal=True it is taken as it is")]
    Pattern { source: grep_regex::Error },
    #[error("the glob '{glob}' is wrong")]
    Glob { glob: String, source: ignore::Error },
}

fn build(roots: &[FilePath], own_files: OwnFiles) -> Pack {
    let roots = Roots::new(roots, own_files);
    let about = About {
        name: "ripgrep.search",
        description: "Search the contents of files with a regular expression: path, line number and text of every line that matches. Files that .gitignore names, hidden and binary files are left out.",
        effect: Effect::Reads,
        example: "ripgrep.search(pattern=\"fn main\", glob=\"*.rs\", context=2)",
        keywords: &["grep", "rg", "regex", "code", "find", "text", "occurrences", "usages", "source"],
        category: "files",
    };
    let search = tool(about, move |args: Search, _: CallContext| {
        let roots = roots.clone();
        blocking(move |stop| search(&roots, &args, stop))
    });
    pack("ripgrep", DESCRIPTION, vec![search])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The regular expression, in Rust's syntax.
    pattern: String,
    /// The folder or file to search, relative to the first root or absolute inside one; the first root if not given.
    #[serde(default)]
    path: String,
    /// Only files that this glob matches, such as `*.rs`; `!*.lock` leaves files out.
    glob: Option<String>,
    /// How many lines around a match are given, too.
    #[serde(default)]
    #[schemars(range(max = 100))]
    context: usize,
    /// The most matches to give.
    #[serde(default = "default_max")]
    #[schemars(range(min = 1, max = 100_000))]
    max: u64,
    /// Whether case does not matter.
    #[serde(default)]
    ignore_case: bool,
    /// Whether the pattern is a text rather than a regular expression.
    #[serde(default)]
    literal: bool,
    /// Whether hidden files are searched, too.
    #[serde(default)]
    hidden: bool,
}

fn default_max() -> u64 {
    200
}

/// What all threads of one search share.
struct Shared<'a> {
    place: &'a Place,
    /// The root without links, which found paths begin with.
    root: &'a Path,
    matcher: &'a RegexMatcher,
    glob: Override,
    stop: &'a Stop,
    /// How many more matches are wanted.
    left: AtomicU64,
    has_more: AtomicBool,
    unreadable: AtomicU64,
    found: Mutex<Vec<Match>>,
}

fn search(roots: &Roots, args: &Search, stop: &Stop) -> Result<ToolOutput, SearchError> {
    let place = roots.place(&args.path)?;
    let (root, inside) = place.without_links()?;
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|source| SearchError::Pattern { source })?;
    let glob = glob(&root, args.glob.as_deref())?;
    let walk = walk(&place, &root.join(&inside), args.hidden);
    let shared = Shared {
        place: &place,
        root: &root,
        matcher: &matcher,
        glob,
        stop,
        left: AtomicU64::new(args.max),
        has_more: AtomicBool::new(false),
        unreadable: AtomicU64::new(0),
        found: Mutex::default(),
    };
    walk.run(|| {
        let mut searcher = searcher(args.context);
        let shared = &shared;
        Box::new(move |entry| match entry {
            _ if shared.stop.is_set() || shared.has_more.load(Ordering::Relaxed) => WalkState::Quit,
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|it| it.is_file());
                if is_file && !shared.glob.matched(entry.path(), false).is_ignore() {
                    shared.search_file(&mut searcher, entry.path());
                }
                WalkState::Continue
            }
            Err(_) => {
                shared.unreadable.fetch_add(1, Ordering::Relaxed);
                WalkState::Continue
            }
        })
    });
    Ok(answer(shared))
}

/// Reads the glob. It is asked beside the walk, not by it: there it would bring back what .gitignore names.
fn glob(root: &Path, glob: Option<&str>) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    let wrong = |source| SearchError::Glob { glob: glob.unwrap_or_default().to_owned(), source };
    if let Some(glob) = glob {
        builder.add(glob).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

fn walk(place: &Place, start: &Path, hidden: bool) -> WalkParallel {
    let threads = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let mut walk = WalkBuilder::new(start);
    walk.hidden(!hidden)
        .follow_links(false)
        // A folder that is no repository may have a .gitignore as well.
        .require_git(false)
        // The home folder is not ours to read.
        .git_global(false)
        .threads(threads);
    let closed = place.closed_files();
    // Every file is checked again when it is opened; this saves the walk through our own directories.
    walk.filter_entry(move |entry| {
        !(entry.file_type().is_some_and(|it| it.is_dir()) && closed.has_directory(entry.path()))
    });
    walk.build_parallel()
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_LINE))
        .build()
}

impl Shared<'_> {
    fn search_file(&self, searcher: &mut Searcher, path: &Path) {
        // Opened beneath the root and through no link: the name alone proves nothing by now.
        let inside = path.strip_prefix(self.root).unwrap_or(path);
        let Ok(file) = self.place.open_exactly(inside) else {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let mut collect = Collect::new(inside, &self.left, &self.has_more);
        let reader = StoppableReader { file, stop: self.stop };
        if searcher.search_reader(self.matcher, reader, &mut collect).is_err() {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        if !collect.found.is_empty() {
            self.found.lock().unpoisoned().append(&mut collect.found);
        }
    }
}

fn answer(shared: Shared<'_>) -> ToolOutput {
    let mut found = shared.found.into_inner().unpoisoned();
    found.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
    let (is_more, unreadable) = (shared.has_more.into_inner(), shared.unreadable.into_inner());
    let mut text = text_of(&found);
    let mut data = json!({"matches": found, "count": found.len()});
    if is_more {
        data["truncated"] = true.into();
        text.push_str("(there are more matches; narrow the search, or raise max)\n");
    }
    if unreadable > 0 {
        data["unreadable"] = unreadable.into();
    }
    if text.is_empty() {
        text.push_str("no matches\n");
    }
    ToolOutput {
        content: vec![ContentBlock::text(text)],
        structured_content: Some(data),
        ..ToolOutput::default()
    }
}
