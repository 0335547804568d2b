//! Python files as packs: every function is a tool, its signature the schema, its docstring the description.

mod annotation;
mod docstring;
mod module;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool_core::{Tool, ToolSpec};

use self::module::Module;
use crate::config::PackFilesConfig;
use crate::run::{PythonBody, PythonTool, Runner};

const MAX_FILE: u64 = 1024 * 1024;

/// A pack that was read from a file.
pub(crate) struct PythonPack {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The file's own docstring.
    pub(crate) description: Option<String>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
}

/// A file that is no pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PackError {
    /// The pack, as far as it is known.
    pub name: String,
    /// The file, or the pattern that should lead to one.
    pub path: PathBuf,
    /// The line, counted from 1, where it is about one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Reads the packs that the configuration names, in the order of its patterns and then of the files' names.
///
/// A file that is no pack takes nothing away from the others.
pub(crate) fn load(
    files: &[PackFilesConfig],
    runner: Option<&Arc<Runner>>,
) -> Vec<Result<PythonPack, PackError>> {
    let mut seen = Vec::new();
    let mut packs = Vec::new();
    for file in files {
        match paths(file) {
            Ok(paths) => {
                for path in paths.into_iter().filter(|path| !seen.contains(path)).collect::<Vec<_>>() {
                    packs.push(read(&path, runner));
                    seen.push(path);
                }
            }
            Err(error) => packs.push(Err(error)),
        }
    }
    packs
}

/// Returns the files that a pattern leads to. One without `*` has to lead to one.
fn paths(files: &PackFilesConfig) -> Result<Vec<PathBuf>, PackError> {
    let failed = |reason: String| PackError {
        name: stem(&files.pattern),
        path: files.pattern.clone(),
        line: None,
        reason,
    };
    let pattern = files.pattern.to_str().ok_or_else(|| failed("the path is no text".into()))?;
    if !pattern.contains(['*', '?', '[']) {
        return match files.pattern.is_file() {
            true => Ok(vec![files.pattern.clone()]),
            false => Err(failed("there is no such file".into())),
        };
    }
    let found = glob::glob(pattern).map_err(|error| failed(format!("the pattern is wrong: {error}")))?;
    let mut paths: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path, runner: Option<&Arc<Runner>>) -> Result<PythonPack, PackError> {
    let failed = |line, reason: String| PackError { name: stem(path), path: path.to_owned(), line, reason };
    let size = std::fs::metadata(path).map_err(|error| failed(None, error.to_string()))?.len();
    if size > MAX_FILE {
        return Err(failed(None, format!("the file has {size} bytes; a pack has at most {MAX_FILE}")));
    }
    let source = std::fs::read_to_string(path).map_err(|error| failed(None, error.to_string()))?;
    let module = Module::parse(&source, &stem(path)).map_err(|error| failed(error.line, error.reason))?;
    if module.functions.is_empty() {
        return Err(failed(None, "no function in it; write one whose name does not begin with '_'".into()));
    }
    let file_name: Arc<str> =
        path.file_name().map_or_else(|| "pack.py".into(), |name| name.to_string_lossy().into());
    let (source, module_name): (Arc<str>, Arc<str>) = (source.into(), module.pack.as_str().into());
    let tools = module.functions.into_iter().map(|function| -> Arc<dyn Tool> {
        let spec = ToolSpec::new(format!("{}.{}", module.pack, function.name), function.description)
            .with_input_schema(function.schema);
        let body = PythonBody::Function {
            file_name: file_name.clone(),
            source: source.clone(),
            module: module_name.clone(),
            function: function.name,
        };
        Arc::new(PythonTool::new(spec, body, None, runner.cloned()))
    });
    let tools = tools.collect();
    Ok(PythonPack { tools, path: path.to_owned(), name: module.pack, description: module.description })
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
