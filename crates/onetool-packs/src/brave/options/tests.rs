//! Tests of the options of the pack `brave`.

use std::time::Duration;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

#[test]
fn without_a_key_the_pack_is_still_enabled() {
    let options: BraveOptions = read("");
    assert!(options.is_enabled() && options.api_key.get().is_none() && options.secrets().is_empty());
    assert_eq!(options.base_url.join("web/search"), "https://api.search.brave.com/res/v1/web/search");
    assert_eq!(*options.timeout, Duration::from_secs(30));
    for empty in ["\"${EMPTY}\"", "''", "\"${NO:-}\""] {
        let options: BraveOptions = read(&format!("brave: {{api_key: {empty}, base_url: {empty}}}"));
        assert_eq!(options, BraveOptions::default(), "{empty}");
    }
    assert!(!read::<BraveOptions>("brave: {enabled: false}").is_enabled());
}

#[test]
fn the_key_is_a_secret() {
    let options: BraveOptions = read("brave: {api_key: \" ${TOKEN} \", base_url: 'https://a.example/v1/'}");
    assert_eq!(options.api_key.get().unwrap().expose(), "canary-4711");
    assert_eq!(options.secrets().len(), 1);
    assert_eq!(options.base_url.join("x"), "https://a.example/v1/x");
    assert!(!format!("{options:?}").contains("canary"), "{options:?}");
}

#[test]
fn keys_and_urls_are_checked() {
    assert_eq!(
        error::<BraveOptions>("brave: {api_key: a b}"),
        "'brave.api_key': must have only ASCII characters and no spaces"
    );
    assert_eq!(
        error::<BraveOptions>("brave: {base_url: 'https://a.example/?q'}"),
        "'brave.base_url': must not contain '?' or '#', because paths are appended to it"
    );
    assert_eq!(
        error::<BraveOptions>("brave: {base_url: 'ftp://a'}"),
        "'brave.base_url': must begin with http:// or https://"
    );
    let plain = |key: &str, url: &str| {
        crate::testing::try_read::<BraveOptions>(&format!("brave: {{{key}base_url: '{url}'}}"))
    };
    let refused = plain("api_key: k, ", "http://a.example").unwrap_err().to_string();
    assert_eq!(refused, "'brave.base_url': a key sent over plain http can be read by others; use https");
    for (key, url) in [
        ("", "http://a.example"),
        ("api_key: k, ", "http://127.0.0.1:1"),
        ("api_key: k, ", "http://localhost"),
        ("api_key: k, ", "http://[::1]"),
    ] {
        plain(key, url).unwrap();
    }
}

#[test]
fn an_agent_cannot_change_the_key_or_where_it_is_sent() {
    let all: Vec<BraveOptions> = [
        "{}",
        "{api_key: one}",
        "{api_key: two}",
        "{api_key: one, base_url: 'https://a.example'}",
        "{api_key: one, timeout: 5, enabled: false}",
    ]
    .map(|options| read(&format!("brave: {options}")))
    .into();
    check_restrict(&all, |old, allowed| {
        (&old.api_key, &old.base_url) == (&allowed.api_key, &allowed.base_url)
    });
    assert_eq!(restrict(&all[1], &all[3]).1, ["packs.brave (changed)"]);
    assert_eq!(restrict(&all[1], &all[4]).0, all[4]);
}
