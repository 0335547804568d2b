//! The access token of the HTTP server: generated once and saved in a file that only its owner can read.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;

use crate::error::CliError;

/// The name of the token file.
pub(crate) const FILE: &str = "token";
const BYTES: usize = 32;

/// A token, and where it is saved.
pub(crate) struct Token {
    pub(crate) value: String,
    /// The file, if there is a directory for it.
    pub(crate) file: Option<PathBuf>,
    /// Whether it was just generated, so that it has to be shown.
    pub(crate) is_new: bool,
}

/// Reads the token in `directory`, or creates one. Without a directory, it lasts until the process exits.
pub(crate) fn read_or_create(directory: Option<&Path>) -> Result<Token, CliError> {
    let Some(directory) = directory else {
        return Ok(Token { value: generate()?, is_new: true, file: None });
    };
    let file = directory.join(FILE);
    let failed = |error: io::Error| {
        CliError::failed(format!("cannot use the access token file '{}': {error}", file.display()))
            .hinted("make the directory writable, or set `http: {token: …}` in the configuration")
    };
    match read(&file).map_err(failed)? {
        Some(value) => Ok(Token { value, is_new: false, file: Some(file) }),
        None => {
            let value = create(directory, &file).map_err(failed)?;
            Ok(Token { value, is_new: true, file: Some(file) })
        }
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    match fs::File::open(file) {
        Ok(opened) => opened.take(4096).read_to_string(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if fs::metadata(file)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(file, Permissions::from_mode(0o600))?;
        tracing::warn!(file = %file.display(), "other users could read the token file; set its mode to 600");
    }
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn generate() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

fn create(directory: &Path, file: &Path) -> io::Result<String> {
    let value = generate()?;
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // Written to another file and renamed, so that no reader sees half a token.
    let new = file.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    writeln!(opened, "{value}")?;
    opened.sync_all()?;
    fs::rename(&new, file)?;
    Ok(value)
}
