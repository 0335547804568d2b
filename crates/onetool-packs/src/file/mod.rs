//! The pack `file`: files and directories inside configured roots.

mod change;
mod inspect;
mod options;
mod read;

use onetool_core::{CallContext, Pack};

use crate::blocking::{Stop, blocking};
use crate::own_files::OwnFiles;
use crate::roots::{PathError, Roots};
use crate::tool::{About, Effect, pack, tool};

pub(crate) use options::FileOptions;

const DESCRIPTION: &str = "Files and directories of this machine, inside configured roots. Paths are relative to the first root, or absolute inside one.";
const CATEGORY: &str = "files";

/// Errors of the tools.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("offset must be >= {min}, got {offset}")]
    Offset { min: u64, offset: u64 },
    #[error("'{path}' is not text; read it with unit='bytes'")]
    Binary { path: String },
    #[error("line {line} of '{path}' is longer than {max} bytes; read it with unit='bytes'")]
    LongLine { path: String, line: u64, max: usize },
    #[error("'{path}' has {size} bytes; only files up to {max} bytes can be edited")]
    TooLarge { path: String, size: u64, max: u64 },
    #[error("'old' is empty; set it to the text to replace, or write the whole file with file.write")]
    EmptyOld,
    #[error(
        "'old' does not occur in '{path}'; it must be the exact text, including whitespace: read the file again"
    )]
    NotFound { path: String },
    #[error("'old' matches {count} times in '{path}' (lines {lines}); include more of the surrounding text")]
    Ambiguous { path: String, count: usize, lines: String },
    #[error("'{path}' changed while it was being edited; read it again")]
    Changed { path: String },
    #[error("'{path}' is already in the trash")]
    InTrash { path: String },
    #[error("'{path}' is on another file system than the trash of its root, so it cannot be moved there")]
    OtherDevice { path: String },
    #[error("invalid pattern '{pattern}'")]
    Pattern { pattern: String, source: globset::Error },
}

fn build(options: &FileOptions, own_files: OwnFiles) -> Pack {
    let roots = Roots::new(&options.roots, own_files);
    let trash = options.trash.clone();
    let mut tools = vec![
        with(
            &roots,
            About {
                name: "file.read",
                description: "Read a text file, or a part of it by lines; unit=\"bytes\" reads any file by bytes. The result says where to continue.",
                effect: Effect::Reads,
                example: "file.read(path=\"README.md\", offset=1, limit=100)",
                keywords: &["open", "cat", "content", "lines", "show", "source", "document"],
                category: CATEGORY,
            },
            read::read,
        ),
        with(
            &roots,
            About {
                name: "file.list",
                description: "List a directory: names, kinds, sizes and modification times.",
                effect: Effect::Reads,
                example: "file.list(path=\"src\")",
                keywords: &["ls", "dir", "directory", "folder", "browse"],
                category: CATEGORY,
            },
            inspect::list,
        ),
        with(
            &roots,
            About {
                name: "file.tree",
                description: "Show a directory and its subdirectories as an indented tree.",
                effect: Effect::Reads,
                example: "file.tree(path=\".\", depth=2)",
                keywords: &["directory", "structure", "layout", "project", "folders"],
                category: CATEGORY,
            },
            inspect::tree,
        ),
        with(
            &roots,
            About {
                name: "file.search",
                description: "Find files and directories by name with a glob such as **/*.rs. To search inside files, use ripgrep.search.",
                effect: Effect::Reads,
                example: "file.search(pattern=\"**/*.md\", path=\"docs\")",
                keywords: &["find", "glob", "locate", "filename", "fd"],
                category: CATEGORY,
            },
            inspect::search,
        ),
        with(
            &roots,
            About {
                name: "file.info",
                description: "Describe a path: kind, size, modification time, permissions, and the target of a link.",
                effect: Effect::Reads,
                example: "file.info(path=\"Cargo.toml\")",
                keywords: &["stat", "size", "exists", "metadata", "modified"],
                category: CATEGORY,
            },
            inspect::info,
        ),
    ];
    if !options.read_only {
        tools.extend([
            with(
                &roots,
                About {
                    name: "file.write",
                    description: "Write a file, or replace an existing one, atomically. To change a part of a file, use file.edit.",
                    effect: Effect::Destroys,
                    example: "file.write(path=\"notes/today.md\", content=\"# Today\\n\")",
                    keywords: &["save", "create", "new", "overwrite", "store"],
                    category: CATEGORY,
                },
                change::write,
            ),
            with(
                &roots,
                About {
                    name: "file.edit",
                    description: "Replace text in a file. The old text must occur exactly once.",
                    effect: Effect::Destroys,
                    example: "file.edit(path=\"app.py\", old=\"DEBUG = True\", new=\"DEBUG = False\")",
                    keywords: &["change", "replace", "modify", "patch", "update"],
                    category: CATEGORY,
                },
                change::edit,
            ),
            with(
                &roots,
                About {
                    name: "file.delete",
                    description: "Move a file or directory to the trash directory of its root; the result has its new path.",
                    effect: Effect::Destroys,
                    example: "file.delete(path=\"old.txt\")",
                    keywords: &["remove", "rm", "trash", "unlink"],
                    category: CATEGORY,
                },
                move |roots, args, stop| change::delete(roots, args, &trash, stop),
            ),
        ]);
    }
    pack("file", DESCRIPTION, tools)
}

/// Creates a tool from a function on the roots.
fn with<A, T, F>(roots: &Roots, about: About, function: F) -> crate::tool::DocumentedTool
where
    A: serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static,
    T: onetool_core::IntoToolOutput + Send + 'static,
    F: Fn(&Roots, A, &Stop) -> Result<T, FileError> + Clone + Send + Sync + 'static,
{
    let roots = roots.clone();
    tool(about, move |args: A, _: CallContext| {
        let (roots, function) = (roots.clone(), function.clone());
        blocking(move |stop| function(&roots, args, stop))
    })
}
