//! Tests of the options of the pack `package`.

use std::time::Duration;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

#[test]
fn the_default_registries_are_the_public_ones() {
    let options: PackageOptions = read("");
    assert!(options.is_enabled());
    assert_eq!(options.npm_url.join("a"), "https://registry.npmjs.org/a");
    assert_eq!(options.pypi_url.join("a"), "https://pypi.org/a");
    assert_eq!(options.crates_url.join("a"), "https://index.crates.io/a");
    assert_eq!(*options.timeout, Duration::from_secs(30));
    let empty = "package: {npm_url: \"${EMPTY}\", pypi_url: '', crates_url: \"${NO:-}\"}";
    assert_eq!(read::<PackageOptions>(empty), options);
    assert!(!read::<PackageOptions>("package: {enabled: false}").is_enabled());
}

#[test]
fn registries_are_http_urls() {
    assert_eq!(
        read::<PackageOptions>("package: {npm_url: 'https://a.example//'}").npm_url.join("b"),
        "https://a.example/b"
    );
    assert_eq!(
        error::<PackageOptions>("package: {pypi_url: pypi.org}"),
        "'package.pypi_url': invalid URL: relative URL without a base"
    );
}

#[test]
fn an_agent_cannot_change_the_registries() {
    let all: Vec<PackageOptions> = [
        "{}",
        "{npm_url: 'https://a.example'}",
        "{pypi_url: 'https://a.example', timeout: 5}",
        "{crates_url: 'https://a.example', enabled: false}",
        "{timeout: 9, enabled: false}",
    ]
    .map(|options| read(&format!("package: {options}")))
    .into();
    let urls = |it: &PackageOptions| [it.npm_url.clone(), it.pypi_url.clone(), it.crates_url.clone()];
    check_restrict(&all, |old, allowed| urls(old) == urls(allowed));
    assert_eq!(restrict(&all[0], &all[1]).1, ["packs.package (changed)"]);
    assert_eq!(restrict(&all[0], &all[4]).0, all[4]);
}
