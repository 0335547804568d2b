//! Packs of tools.

use super::resolve_path;
use crate::config::file::PacksFile;
use crate::config::resolved::PackFilesConfig;
use crate::config::tree::Place;

const DEFAULT_FILES: &str = "packs/*.py";

pub(super) fn files(file: PacksFile, place: &Place<'_>) -> Vec<PackFilesConfig> {
    let place = place.field("files");
    let pattern = |pattern: &str, place: &Place<'_>| PackFilesConfig {
        pattern: resolve_path(pattern, place),
        at: place.at.clone(),
    };
    match file.files {
        None => vec![pattern(DEFAULT_FILES, &place)],
        Some(patterns) => {
            patterns.iter().enumerate().map(|(index, it)| pattern(it, &place.item(index))).collect()
        }
    }
}
