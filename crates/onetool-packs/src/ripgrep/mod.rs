//! The pack `ripgrep`: searches the contents of files with ripgrep's libraries, in process.

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

use collect::{Match, MatchCollector, StoppableReader, format_matches};

const DESCRIPTION: &str = "Searches the contents of files inside configured roots.";
/// More threads than this only contend with each other.
const MAX_THREADS: usize = 12;
/// Longer lines are not searched; without a limit, one file could use all memory.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// Errors of a search.
#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("invalid regular expression; literal=True searches for the pattern as plain text")]
    Pattern { source: grep_regex::Error },
    #[error("invalid glob '{glob}'")]
    Glob { glob: String, source: ignore::Error },
}

fn build(roots: &[FilePath], own_files: OwnFiles) -> Pack {
    let roots = Roots::new(roots, own_files);
    let about = About {
        name: "ripgrep.search",
        description: "Search the contents of files with a regular expression: path, line number and text of every matching line. Skips files in .gitignore, hidden files and binary files.",
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
    /// The directory or file to search, relative to the first root or absolute inside one. Default: the first root.
    #[serde(default)]
    path: String,
    /// Only search files that match this glob, such as `*.rs`; `!*.lock` skips files.
    glob: Option<String>,
    /// Number of lines to include before and after each match.
    #[serde(default)]
    #[schemars(range(max = 100))]
    context: usize,
    /// Maximum number of matches.
    #[serde(default = "default_max")]
    #[schemars(range(min = 1, max = 100_000))]
    max: u64,
    /// Whether to ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Whether the pattern is plain text instead of a regular expression.
    #[serde(default)]
    literal: bool,
    /// Whether to search hidden files, too.
    #[serde(default)]
    hidden: bool,
}

fn default_max() -> u64 {
    200
}

/// State shared by the threads of a search.
struct Shared<'a> {
    place: &'a Place,
    /// The root with links resolved. Paths found by the walk begin with it.
    root: &'a Path,
    matcher: &'a RegexMatcher,
    glob: Override,
    stop: &'a Stop,
    /// The number of matches that may still be added.
    remaining: AtomicU64,
    has_more: AtomicBool,
    unreadable: AtomicU64,
    found: Mutex<Vec<Match>>,
}

fn search(roots: &Roots, args: &Search, stop: &Stop) -> Result<ToolOutput, SearchError> {
    let place = roots.place(&args.path)?;
    let (root, relative) = place.without_links()?;
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|source| SearchError::Pattern { source })?;
    let glob = glob(&root, args.glob.as_deref())?;
    let walk = walk(&place, &root.join(&relative), args.hidden);
    let shared = Shared {
        place: &place,
        root: &root,
        matcher: &matcher,
        glob,
        stop,
        remaining: AtomicU64::new(args.max),
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
    Ok(output(shared))
}

/// Compiles the glob. It is applied outside the walk, because an override of the walk would also include files in
/// .gitignore.
fn glob(root: &Path, glob: Option<&str>) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    let invalid = |source| SearchError::Glob { glob: glob.unwrap_or_default().to_owned(), source };
    if let Some(glob) = glob {
        builder.add(glob).map_err(invalid)?;
    }
    builder.build().map_err(invalid)
}

fn walk(place: &Place, start: &Path, hidden: bool) -> WalkParallel {
    let threads = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let mut walk = WalkBuilder::new(start);
    walk.hidden(!hidden)
        .follow_links(false)
        // Respect .gitignore outside of repositories, too.
        .require_git(false)
        // The global configuration is outside the roots.
        .git_global(false)
        .threads(threads);
    let protected = place.protected_files();
    // Every file is checked again when it is opened; this only avoids walking onetool's own directories.
    walk.filter_entry(move |entry| {
        !(entry.file_type().is_some_and(|it| it.is_dir()) && protected.has_directory(entry.path()))
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
        // The file may have been replaced since the walk found its name, so it is opened inside the root, without
        // links.
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        let Ok(file) = self.place.open_without_links(relative) else {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let mut collector = MatchCollector::new(relative, &self.remaining, &self.has_more);
        let reader = StoppableReader { file, stop: self.stop };
        if searcher.search_reader(self.matcher, reader, &mut collector).is_err() {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        if !collector.found.is_empty() {
            self.found.lock().unpoisoned().append(&mut collector.found);
        }
    }
}

fn output(shared: Shared<'_>) -> ToolOutput {
    let mut found = shared.found.into_inner().unpoisoned();
    found.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
    let (has_more, unreadable) = (shared.has_more.into_inner(), shared.unreadable.into_inner());
    let mut text = format_matches(&found);
    let mut data = json!({"matches": found, "count": found.len()});
    if has_more {
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
