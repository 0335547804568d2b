//! Reads options in tests.

use onetool_config::{ConfigError, Document, PendingChanges, parse_text};

use crate::options::PackOptions;

/// Parses the map under `packs:`. The variable `TOKEN` is `canary-4711`, and `EMPTY` is empty.
pub(crate) fn parse(packs: &str) -> Document {
    let env = |name: &str| match name {
        "TOKEN" => Some("canary-4711".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    parse_text(packs, "/etc/onetool.yaml".as_ref(), &env).unwrap_or_else(|error| panic!("{}", error.report()))
}

/// Reads and checks the options of one pack from the map under `packs:`.
pub(crate) fn try_read<T: PackOptions>(packs: &str) -> Result<T, ConfigError> {
    let document = parse(packs);
    let section = document.root().field(T::NAME);
    let mut options: T = section.read()?;
    options.check(&section, &document.root())?;
    Ok(options)
}

/// Like [`try_read`], for valid options.
pub(crate) fn read<T: PackOptions>(packs: &str) -> T {
    try_read(packs).unwrap_or_else(|error| panic!("{packs}: {}", error.report()))
}

/// Returns the message for invalid options.
pub(crate) fn error<T: PackOptions>(packs: &str) -> String {
    try_read::<T>(packs).expect_err(packs).to_string()
}

/// Returns what an agent gets when it reloads from `old` to `new`, and the settings that wait.
pub(crate) fn restrict<T: PackOptions>(old: &T, new: &T) -> (T, Vec<String>) {
    let mut pending = PendingChanges::default();
    let allowed = old.restrict(new.clone(), &mut pending);
    (allowed, pending.into_keys())
}

/// Checks a property of every change from one of the options to another: `is_within(old, allowed)`.
///
/// Also checks that a change is either applied as a whole or listed as waiting.
pub(crate) fn check_restrict<T: PackOptions>(all: &[T], is_within: impl Fn(&T, &T) -> bool) {
    for old in all {
        for new in all {
            let (allowed, waiting) = restrict(old, new);
            assert!(is_within(old, &allowed), "{old:?} -> {new:?}: {allowed:?}");
            assert_eq!(waiting.is_empty(), allowed == *new, "{old:?} -> {new:?}: {allowed:?}, {waiting:?}");
        }
    }
}
