//! `onetool init`: writes a starter configuration with examples.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use crate::environment::Environment;
use crate::error::CliError;
use crate::output::note;

const STARTER_CONFIG: &str = include_str!("starter_config.yaml");

pub(crate) fn run(environment: &Environment) -> Result<(), CliError> {
    let path = environment.new_config_path();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => CliError::failed(format!("'{}' already exists", path.display()))
            .hinted("edit it, or remove it first"),
        _ => CliError::failed(format!("cannot write '{}': {error}", path.display())),
    };
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    }
    // `create_new` never overwrites an existing configuration.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    file.write_all(STARTER_CONFIG.as_bytes()).map_err(failed)?;
    drop(file);
    note(&format!("Wrote {}", path.display()));
    if super::trust::trust_new(environment)? {
        note("Next: `onetool check`, then `onetool tools`.");
    } else {
        note(
            "Next: review .onetool, which already contained other files; then `onetool trust` and `onetool check`.",
        );
    }
    Ok(())
}
