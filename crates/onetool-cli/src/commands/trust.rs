//! `onetool trust`: trusts, revokes and lists project directories.

use std::path::Path;

use onetool::config::Outline;

use crate::arguments::Trust;
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::{note, print};
use crate::trust::{display_path, listing};

pub(crate) fn run(environment: &Environment, args: &Trust) -> Result<(), CliError> {
    let store = environment.trust_store();
    if args.list {
        let directories: Vec<String> = store.list().iter().map(|it| display_path(it)).collect();
        return if directories.is_empty() {
            note("No trusted directories.");
            Ok(())
        } else {
            Ok(print(&directories.join("\n"))?)
        };
    }
    let directory = args.directory.as_deref().unwrap_or(&environment.directory);
    let directory = directory
        .canonicalize()
        .map_err(|error| CliError::failed(format!("cannot open '{}': {error}", display_path(directory))))?;
    if args.revoke {
        let was_trusted = store.revoke(&directory)?;
        let directory = display_path(&directory);
        note(&if was_trusted {
            format!("Removed trust from {directory}.")
        } else {
            format!("{directory} is not trusted.")
        });
        return Ok(());
    }
    let Some(project) = environment.project_in(&directory) else { return Err(nothing_to_trust(&directory)) };
    let outline = Environment::read_outline(&project.config)?;
    store.trust(&project, &outline)?;
    note(&format!("{}{}", display_path(&project.config), listing(&outline)));
    note(&format!("Trusted {} until one of its files changes.", display_path(&directory)));
    Ok(())
}

fn nothing_to_trust(directory: &Path) -> CliError {
    let directory = display_path(directory);
    CliError::failed(format!("nothing to trust in '{directory}'"))
        .hinted("pass the directory that contains .onetool/onetool.yaml; your home directory needs no trust")
}

/// Trusts a project whose configuration was just written, unless its `.onetool` already contained other files; returns
/// whether it is trusted.
pub(crate) fn trust_new(environment: &Environment) -> Result<bool, CliError> {
    let Some(project) = environment.project() else { return Ok(true) };
    let outline = Environment::read_outline(&project.config)?;
    let Outline { files, further_files, .. } = &outline;
    let written = [project.config.clone(), project.config.with_file_name(super::IMPORTED_SERVERS)];
    let only_ours = files.iter().chain(further_files).all(|it| written.contains(&it.path));
    if !only_ours || project.state.join(crate::token::FILE).exists() {
        return Ok(false);
    }
    environment.trust_store().trust(&project, &outline)?;
    Ok(true)
}
