//! The access token of the HTTP server: made once, kept in a file that only its owner can read.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;

use crate::error::CliError;

/// The name of the file.
pub(crate) const FILE: &str = "token";
const BYTES: usize = 32;

/// A token, and how the operator learns of it.
pub(crate) struct Token {
    pub(crate) value: String,
    /// The file it is saved in, if there is a directory to save it in.
    pub(crate) file: Option<PathBuf>,
    /// Whether it was made just now, so that it has to be shown this once.
    pub(crate) is_new: bool,
}

/// Reads the token in `folder`, or makes one; without a folder it lasts as long as the process.
pub(crate) fn read_or_make(folder: Option<&Path>) -> Result<Token, CliError> {
    let Some(folder) = folder else {
        return Ok(Token { value: random()?, is_new: true, file: None });
    };
    let file = folder.join(FILE);
    let failed = |error: io::Error| {
        CliError::failed(format!("cannot keep the access token in '{}': {error}", file.display()))
            .hinted("make the folder writable, or set `http: {token: …}` in the configuration")
    };
    match read(&file).map_err(failed)? {
        Some(value) => Ok(Token { value, is_new: false, file: Some(file) }),
        None => {
            let value = make(folder, &file).map_err(failed)?;
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
        tracing::warn!(file = %file.display(), "the token could be read by others; closed it (mode 600)");
    }
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

fn make(folder: &Path, file: &Path) -> io::Result<String> {
    let value = random()?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Written beside and moved into place: nobody ever reads half a token.
    let new = file.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    writeln!(opened, "{value}")?;
    opened.sync_all()?;
    fs::rename(&new, file)?;
    Ok(value)
}
