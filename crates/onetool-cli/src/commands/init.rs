//! `onetool init`: a first configuration, with an example of everything.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use crate::environment::Environment;
use crate::error::CliError;
use crate::output::note;

const FIRST_CONFIG: &str = include_str!("first_config.yaml");

pub(crate) fn run(environment: &Environment) -> Result<(), CliError> {
    let path = environment.new_config_path();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => CliError::failed(format!("'{}' exists already", path.display()))
            .hinted("edit it, or move it away first"),
        _ => CliError::failed(format!("cannot write '{}': {error}", path.display())),
    };
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    // `create_new`: somebody's configuration is never overwritten.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    file.write_all(FIRST_CONFIG.as_bytes()).map_err(failed)?;
    drop(file);
    note(&format!("Wrote {}", path.display()));
    if super::trust::trust_new(environment)? {
        note("Next: `onetool check`, then `onetool tools`.");
    } else {
        note("Next: `onetool trust`, since .onetool held other files already; then `onetool check`.");
    }
    Ok(())
}
