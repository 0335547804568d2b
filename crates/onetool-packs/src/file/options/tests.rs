//! Tests of the options of the pack `file`.

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::testing::{check_restrict, error, read, restrict, try_read};

#[test]
fn without_roots_there_is_no_pack() {
    let options: FileOptions = read("");
    assert_eq!(options, FileOptions::default());
    assert_eq!((options.read_only, &*options.trash, options.enabled), (false, ".onetool-trash", true));
    assert!(!options.is_enabled());
    assert!(!read::<FileOptions>("file: {roots: []}").is_enabled());
    assert!(read::<FileOptions>("file: {roots: [/]}").is_enabled());
    assert!(!read::<FileOptions>("file: {roots: [/], enabled: false}").is_enabled());
}

#[test]
fn roots_are_absolute_directories() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().display();
    let options: FileOptions = read(&format!("file: {{roots: [., {path}]}}"));
    assert_eq!(PackOptions::roots(&options), [Path::new("/etc"), directory.path()]);
    assert_eq!(
        error::<FileOptions>("file: {roots: [/, /not/there]}"),
        "'file.roots[1]': /not/there is not a directory"
    );
    assert!(error::<FileOptions>("file: {roots: [/etc/passwd]}").ends_with("/etc/passwd is not a directory"));
}

#[test]
fn the_trash_is_a_name() {
    for name in ["a/b", "/trash", ".", ".."] {
        let message = error::<FileOptions>(&format!("file: {{trash: {name}}}"));
        assert_eq!(message, "'file.trash': must be the name of a directory inside the roots", "{name}");
    }
    assert_eq!(error::<FileOptions>("file: {trash: ''}"), "'file.trash': must not be empty");
    assert_eq!(&*read::<FileOptions>("file: {trash: .trash}").trash, ".trash");
}

#[test]
fn unknown_keys_are_errors() {
    assert_eq!(
        error::<FileOptions>("file: {root: [/]}"),
        "unknown key 'root' in 'file', did you mean 'roots'?"
    );
    assert!(try_read::<FileOptions>("file: [/]").is_err());
}

#[test]
fn an_agent_can_narrow_the_options_but_not_widen_them() {
    let all: Vec<FileOptions> = [
        "{roots: [/etc]}",
        "{roots: [/etc, /usr]}",
        "{roots: [/usr, /etc], read_only: true}",
        "{roots: [/], read_only: true}",
        "{roots: [/etc], trash: .trash}",
        "{roots: [/usr], enabled: false}",
        "{}",
    ]
    .map(|options| read(&format!("file: {options}")))
    .into();
    check_restrict(&all, |old, allowed| {
        is_subset(&allowed.roots, &old.roots)
            && (allowed.read_only || !old.read_only)
            && allowed.trash == old.trash
    });
    let (allowed, waiting) = restrict(&all[1], &all[3]);
    assert_eq!((allowed.roots, allowed.read_only), (all[1].roots.clone(), true), "the stricter part applies");
    assert_eq!(waiting, ["packs.file.roots (wider)"]);
    let (allowed, waiting) = restrict(&all[2], &all[4]);
    assert_eq!((allowed.roots, allowed.read_only), (all[4].roots.clone(), true));
    assert_eq!(waiting, ["packs.file.read_only (off)", "packs.file.trash (changed)"]);
    assert!(!restrict(&all[1], &all[5]).0.is_enabled(), "an agent may disable the pack");
}
