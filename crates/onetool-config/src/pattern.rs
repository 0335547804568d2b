//! Files that match patterns of a configuration.

use std::path::{Path, PathBuf};

use onetool_core::PackError;

/// Returns the files that match the patterns, each once: in the order of the patterns, sorted by name for each.
///
/// A pattern that is invalid, or that has no wildcards and is not a file, is an error in the list.
pub fn matching_files(patterns: &[PathBuf]) -> Vec<Result<PathBuf, PackError>> {
    let mut files: Vec<Result<PathBuf, PackError>> = Vec::new();
    for file in patterns.iter().flat_map(|it| matching(it)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

fn matching(pattern: &Path) -> Vec<Result<PathBuf, PackError>> {
    let failed = |reason: String| vec![Err(PackError::from_file(pattern, None, reason))];
    let Some(text) = pattern.to_str() else { return failed("the path is not valid UTF-8".into()) };
    if !text.contains(['*', '?', '[']) {
        return if pattern.is_file() {
            vec![Ok(pattern.to_owned())]
        } else {
            failed("there is no such file".into())
        };
    }
    match glob::glob(text) {
        Ok(found) => {
            let mut paths: Vec<PathBuf> = found.filter_map(Result::ok).filter(|it| it.is_file()).collect();
            paths.sort();
            paths.into_iter().map(Ok).collect()
        }
        Err(error) => failed(format!("invalid pattern: {error}")),
    }
}
