//! Collects the files that belong to onetool or control what it starts, which tools must not change.

use std::path::{Path, PathBuf};

use onetool_config::SECRETS_FILE;
use onetool_declared::ToolBody;
use onetool_openapi::Origin;
use onetool_packs::OwnPaths;
use onetool_proxy::Transport;
use onetool_store::Store;

use super::GatewayOptions;
use crate::config::Config;

/// Returns the paths that belong to onetool under these configurations.
pub(super) fn own_paths<'a>(
    options: &GatewayOptions,
    store: &dyn Store,
    configs: impl IntoIterator<Item = &'a Config>,
) -> OwnPaths {
    let mut paths = OwnPaths::default();
    paths.directories.clone_from(&options.state);
    paths.directories.extend(options.cache.clone());
    paths.add_state_directory(&options.directory);
    if let Some(database) = options.store.default_file() {
        paths.add_own_database(database);
    }
    for database in store.files() {
        paths.add_own_database(&database);
    }
    for config in configs {
        add(&mut paths, config, &options.directory);
    }
    paths
}

fn add(paths: &mut OwnPaths, config: &Config, working_directory: &Path) {
    if let Some(path) = &config.path {
        paths.files.push(path.with_file_name(SECRETS_FILE));
        paths.add_state_directory(path.parent().unwrap_or(path));
    }
    paths.files.extend(config.files.iter().map(|it| it.path.clone()));
    paths.packs.extend(config.pack_files.iter().cloned());
    if let Some(database) = config.storage.file() {
        paths.add_own_database(database);
    }
    paths.fixed.extend(used_files(config, working_directory));
    for database in config.packs.used_files() {
        paths.add_database(&database);
    }
}

/// Returns the command-line arguments as paths, and the local API descriptions. An agent that could change one of these
/// files could control what runs, or where credentials are sent.
fn used_files(config: &Config, working_directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for tool in &config.declared.tools {
        if let ToolBody::Command(command) = &tool.body {
            files.extend(command.argv.iter().map(|it| command.cwd.join(it)));
        }
    }
    for server in config.servers.values() {
        if let Transport::Stdio { command, args, directory, .. } = &server.connection.transport {
            let directory = directory.as_deref().unwrap_or(working_directory);
            files.extend([command].into_iter().chain(args).map(|it| directory.join(it)));
        }
    }
    for api in config.apis.values() {
        if let Origin::File(path) = &api.origin {
            files.push(path.clone());
        }
    }
    files
}
