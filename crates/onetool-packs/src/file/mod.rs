//! The pack `file`: files and folders inside the roots that the configuration names.

mod change;
mod look;
mod options;
mod read;

use onetool_core::{CallContext, Pack};

use crate::blocking::blocking;
use crate::own_files::OwnFiles;
use crate::roots::{PathError, Roots};
use crate::tool::{About, Effect, pack, tool};

pub(crate) use options::FileOptions;

const DESCRIPTION: &str = "Files and folders of this machine, inside the roots that the configuration names. Paths are relative to the first root, or absolute inside one.";
const CATEGORY: &str = "files";

/// What can go wrong with a file.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("offset has to be {least} or more, got {offset}")]
    Offset { least: u64, offset: u64 },
    #[error("'{path}' is not text; read it with unit='bytes'")]
    Binary { path: String },
    #[error("line {line} of '{path}' is longer than {max} bytes; read it with unit='bytes'")]
    LongLine { path: String, line: u64, max: usize },
    #[error("'{path}' has {size} bytes; only files of at most {max} can be edited")]
    TooLarge { path: String, size: u64, max: u64 },
    #[error("'old' is empty; give the text to replace, or write the whole file with file.write")]
    NothingToFind,
    #[error(
        "'old' does not stand in '{path}'; it has to be the exact text, white space included: read the file again"
    )]
    NotFound { path: String },
    #[error("'old' stands {count} times in '{path}' (lines {lines}); give more of the text around it")]
    Ambiguous { path: String, count: usize, lines: String },
    #[error("'{path}' has changed while it was edited; read it again")]
    Changed { path: String },
    #[error("'{path}' is in the trash already")]
    InTrash { path: String },
    #[error("'{path}' lies on another file system than the trash of its root, so it cannot be moved there")]
    OtherDevice { path: String },
    #[error("the pattern '{pattern}' is wrong")]
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
                description: "Read a text file, or a part of it by lines; unit=\"bytes\" reads any file by bytes. The answer says where to go on.",
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
                description: "List a folder: names, kinds, sizes and times of change.",
                effect: Effect::Reads,
                example: "file.list(path=\"src\")",
                keywords: &["ls", "dir", "directory", "folder", "browse"],
                category: CATEGORY,
            },
            look::list,
        ),
        with(
            &roots,
            About {
                name: "file.tree",
                description: "Show a folder with the folders in it, as an indented tree.",
                effect: Effect::Reads,
                example: "file.tree(path=\".\", depth=2)",
                keywords: &["directory", "structure", "layout", "project", "folders"],
                category: CATEGORY,
            },
            look::tree,
        ),
        with(
            &roots,
            About {
                name: "file.search",
                description: "Find files and folders by name with a glob such as **/*.rs. To search inside files, use ripgrep.search.",
                effect: Effect::Reads,
                example: "file.search(pattern=\"**/*.md\", path=\"docs\")",
                keywords: &["find", "glob", "locate", "filename", "fd"],
                category: CATEGORY,
            },
            look::search,
        ),
        with(
            &roots,
            About {
                name: "file.info",
                description: "Tell what a path is: kind, size, time of change, permissions, and where a link leads.",
                effect: Effect::Reads,
                example: "file.info(path=\"Cargo.toml\")",
                keywords: &["stat", "size", "exists", "metadata", "modified"],
                category: CATEGORY,
            },
            look::info,
        ),
    ];
    if !options.read_only {
        tools.extend([
            with(
                &roots,
                About {
                    name: "file.write",
                    description: "Write a file, new or in the place of what was there: whole or not at all. To change a part, use file.edit.",
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
                    description: "Replace a text in a file by another. The old text has to stand there exactly once.",
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
                    description: "Move a file or a folder to the trash folder of its root; the answer says where it is.",
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

/// Makes a tool of a function that works on the roots.
fn with<A, T, F>(roots: &Roots, about: About, function: F) -> crate::tool::DocumentedTool
where
    A: serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static,
    T: onetool_core::IntoToolOutput + Send + 'static,
    F: Fn(&Roots, A, &super::blocking::Stop) -> Result<T, FileError> + Clone + Send + Sync + 'static,
{
    let roots = roots.clone();
    tool(about, move |args: A, _: CallContext| {
        let (roots, function) = (roots.clone(), function.clone());
        blocking(move |stop| function(&roots, args, stop))
    })
}
