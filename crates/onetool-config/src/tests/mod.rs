//! Tests of the format: scalars, variables, includes, secrets, sections and hostile files.

mod files;
mod hostile;
mod scalars;
mod secrets;
mod section;
mod values;
mod variables;

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::{ConfigError, Document, parse_text, read};

/// A directory with files. The configuration is `onetool.yaml`.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self) -> Result<Document, ConfigError> {
        read(&self.path("onetool.yaml"), &test_env)
    }

    /// Returns the error report, with paths relative to the directory.
    fn error(&self) -> String {
        self.read().unwrap_err().report().replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn test_env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("canary-4711".into()),
        "FLAG" => Some("true".into()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

/// Parses a file that has no includes and no secrets.
fn parse(text: &str) -> Document {
    parse_text(text, Path::new("/etc/onetool.yaml"), &test_env)
        .unwrap_or_else(|error| panic!("{}", error.report()))
}

/// Reads the key `v`.
fn value<T: DeserializeOwned>(text: &str) -> Result<T, ConfigError> {
    parse(text).root().field("v").read_required()
}

/// Returns the message for the key `v`.
fn message<T: DeserializeOwned>(text: &str) -> String {
    value::<T>(text).err().unwrap_or_else(|| panic!("no error: {text}")).to_string()
}
