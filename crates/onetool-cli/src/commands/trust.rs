//! `onetool trust`: the project directories whose configuration is used.

use std::path::Path;

use onetool::config::Outline;

use crate::arguments::Trust;
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::{note, print};
use crate::trust::{listing, shown_path};

pub(crate) fn run(environment: &Environment, asked: &Trust) -> Result<(), CliError> {
    let trust = environment.trust();
    if asked.list {
        let directories: Vec<String> = trust.list().iter().map(|it| shown_path(it)).collect();
        return if directories.is_empty() {
            note("No trusted directories.");
            Ok(())
        } else {
            Ok(print(&directories.join("\n"))?)
        };
    }
    let directory = asked.directory.as_deref().unwrap_or(&environment.directory);
    let directory = directory
        .canonicalize()
        .map_err(|error| CliError::failed(format!("cannot open '{}': {error}", shown_path(directory))))?;
    if asked.revoke {
        let was_trusted = trust.revoke(&directory)?;
        let directory = shown_path(&directory);
        note(&if was_trusted {
            format!("Removed trust from {directory}.")
        } else {
            format!("{directory} is not trusted.")
        });
        return Ok(());
    }
    let Some(project) = environment.project_in(&directory) else { return Err(nothing(&directory)) };
    let outline = Environment::outline(&project.config)?;
    trust.trust(&project, &outline)?;
    note(&format!("{}{}", shown_path(&project.config), listing(&outline)));
    note(&format!("Trusted {} until one of its files changes.", shown_path(&directory)));
    Ok(())
}

fn nothing(directory: &Path) -> CliError {
    let directory = shown_path(directory);
    CliError::failed(format!("there is nothing to trust in '{directory}'"))
        .hinted("name the directory that holds .onetool/onetool.yaml; the one in your home needs no trust")
}

/// Trusts a project whose configuration was written just now, unless others have put something there before; tells whether
/// it is trusted.
pub(crate) fn trust_new(environment: &Environment) -> Result<bool, CliError> {
    let Some(project) = environment.project() else { return Ok(true) };
    let outline = Environment::outline(&project.config)?;
    let Outline { files, further_files, .. } = &outline;
    let written = [project.config.clone(), project.config.with_file_name(super::import::FILE)];
    let is_ours = files.iter().chain(further_files).all(|it| written.contains(&it.path));
    if !is_ours || project.state.join(crate::token::FILE).exists() {
        return Ok(false);
    }
    environment.trust().trust(&project, &outline)?;
    Ok(true)
}
