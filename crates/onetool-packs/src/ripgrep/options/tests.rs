//! Tests of the options of the pack `ripgrep`.

use std::path::Path;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

#[test]
fn the_default_roots_are_those_of_the_pack_file() {
    assert!(!read::<RipgrepOptions>("").is_enabled());
    let options: RipgrepOptions = read("file: {roots: [/usr, /]}");
    assert!(options.is_enabled());
    assert_eq!(PackOptions::roots(&options), [Path::new("/usr"), Path::new("/")]);
    let own: RipgrepOptions = read("{file: {roots: [/usr]}, ripgrep: {roots: [/etc]}}");
    assert_eq!(PackOptions::roots(&own), [Path::new("/etc")]);
    assert!(!read::<RipgrepOptions>("{file: {roots: [/usr]}, ripgrep: {roots: []}}").is_enabled());
    assert!(!read::<RipgrepOptions>("{file: {roots: [/usr]}, ripgrep: {enabled: false}}").is_enabled());
}

#[test]
fn a_disabled_pack_file_has_no_roots_to_search() {
    for flag in ["false", "False", "FALSE"] {
        let options: RipgrepOptions = read(&format!("file: {{roots: [/usr], enabled: {flag}}}"));
        assert!(!options.is_enabled(), "{flag}");
    }
    let packs = "{file: {roots: [/usr], enabled: false}, ripgrep: {roots: [/etc]}}";
    assert!(read::<RipgrepOptions>(packs).is_enabled());
}

#[test]
fn roots_are_directories() {
    assert_eq!(
        error::<RipgrepOptions>("ripgrep: {roots: [gone]}"),
        "'ripgrep.roots[0]': /etc/gone is not a directory"
    );
}

#[test]
fn an_agent_can_narrow_the_roots_but_not_widen_them() {
    let all: Vec<RipgrepOptions> = [
        "ripgrep: {roots: [/etc]}",
        "ripgrep: {roots: [/etc, /usr]}",
        "file: {roots: [/usr]}",
        "{file: {roots: [/usr]}, ripgrep: {enabled: false}}",
        "{}",
    ]
    .map(read)
    .into();
    check_restrict(&all, |old, allowed| is_subset(allowed.roots(), old.roots()));
    assert_eq!(restrict(&all[0], &all[1]).1, ["packs.ripgrep.roots (wider)"]);
}
