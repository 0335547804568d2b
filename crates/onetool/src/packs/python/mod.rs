//! Python files as packs: every function is a tool, its signature the schema, its docstring the description.

mod annotation;
mod docstring;
mod module;

use std::path::Path;
use std::sync::Arc;

use onetool_core::{Tool, ToolSpec};

use self::module::Module;
use super::{Pack, PackError, files, stem};
use crate::catalog::ToolDocs;
use crate::config::PackFilesConfig;
use crate::run::{PythonBody, PythonTool, Runner};

const MAX_FILE: u64 = 1024 * 1024;

/// Reads the packs that the configuration names. A file that is no pack takes nothing away from the others.
pub(crate) fn load(
    patterns: &[PackFilesConfig],
    runner: Option<&Arc<Runner>>,
) -> Vec<Result<Pack, PackError>> {
    files(patterns).into_iter().map(|path| read(&path?, runner)).collect()
}

fn read(path: &Path, runner: Option<&Arc<Runner>>) -> Result<Pack, PackError> {
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
    let mut docs = Vec::new();
    let tools = module.functions.into_iter().map(|function| -> Arc<dyn Tool> {
        let name = format!("{}.{}", module.pack, function.name);
        docs.push((name.clone(), ToolDocs { returns: function.returns, ..ToolDocs::default() }));
        let spec = ToolSpec::new(name, function.description).with_input_schema(function.schema);
        let body = PythonBody::Function {
            file_name: file_name.clone(),
            source: source.clone(),
            module: module_name.clone(),
            function: function.name,
        };
        Arc::new(PythonTool::new(spec, body, None, runner.cloned()))
    });
    let tools = tools.collect();
    Ok(Pack { tools, docs, path: path.to_owned(), name: module.pack, description: module.description })
}

#[cfg(test)]
mod tests;
