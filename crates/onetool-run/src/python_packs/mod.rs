//! Packs from Python files: each public function is a tool with a schema from its signature and docstring.

mod annotation;
mod docstring;
mod module;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool_config::matching_files;
use onetool_core::{Pack, PackError, ToolDocs, ToolSpec};

use self::module::Module;
use crate::python_pack::PythonPack;
use crate::run::{PythonBody, PythonTool, Runner};

const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Loads the packs from the files that match the patterns. An invalid file does not affect the others.
pub(crate) fn load(patterns: &[PathBuf], runner: Option<&Arc<Runner>>) -> Vec<Result<PythonPack, PackError>> {
    matching_files(patterns).into_iter().map(|path| read(&path?, runner)).collect()
}

fn read(path: &Path, runner: Option<&Arc<Runner>>) -> Result<PythonPack, PackError> {
    let failed = |line, reason: String| PackError::from_file(path, line, reason);
    let size = std::fs::metadata(path).map_err(|error| failed(None, error.to_string()))?.len();
    if size > MAX_FILE_BYTES {
        return Err(failed(None, format!("file is too large: {size} bytes (limit {MAX_FILE_BYTES})")));
    }
    let source = std::fs::read_to_string(path).map_err(|error| failed(None, error.to_string()))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let module = Module::parse(&source, &stem).map_err(|error| failed(error.line, error.reason))?;
    if module.functions.is_empty() {
        return Err(failed(None, "no functions found (names that begin with '_' are skipped)".into()));
    }
    let file_name: Arc<str> =
        path.file_name().map_or_else(|| "pack.py".into(), |name| name.to_string_lossy().into());
    let (source, module_name): (Arc<str>, Arc<str>) = (source.into(), module.pack.as_str().into());
    let mut pack = Pack::new(module.pack.as_str());
    pack.description = module.description;
    for function in module.functions {
        let mut docs = ToolDocs::default();
        docs.returns = function.returns;
        let name = format!("{}.{}", module.pack, function.name);
        let spec = ToolSpec::new(name, function.description).with_input_schema(function.schema);
        let body = PythonBody::Function {
            file_name: file_name.clone(),
            source: source.clone(),
            module: module_name.clone(),
            function: function.name,
        };
        pack = pack.with_documented_tool(Arc::new(PythonTool::new(spec, body, None, runner.cloned())), docs);
    }
    Ok(PythonPack { path: path.to_owned(), pack })
}

#[cfg(test)]
mod tests;
