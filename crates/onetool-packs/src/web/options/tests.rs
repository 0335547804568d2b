//! Tests of the options of the pack `web`.

use std::time::Duration;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

#[test]
fn the_pack_needs_no_options() {
    let options: WebOptions = read("");
    assert_eq!(options, WebOptions::default());
    assert!(options.is_enabled() && !options.allow_private);
    assert_eq!((*options.timeout, options.max_bytes.get()), (Duration::from_secs(30), 10 * 1024 * 1024));
    assert_eq!(read::<WebOptions>("web:"), options, "an empty key is the default");
    assert!(!read::<WebOptions>("web: {enabled: false}").is_enabled());
}

#[test]
fn limits_are_checked() {
    assert_eq!(error::<WebOptions>("web: {max_bytes: 0}"), "'web.max_bytes': must be at least 1");
    assert_eq!(
        error::<WebOptions>("web: {timeout: 1e9}"),
        "'web.timeout': must be more than 0 and at most 86400 seconds"
    );
    assert_eq!(
        error::<WebOptions>("web: {allow_private: 1}"),
        "'web.allow_private' must be true or false, not a whole number"
    );
}

#[test]
fn an_agent_cannot_allow_private_addresses() {
    let all: Vec<WebOptions> = [
        "{}",
        "{allow_private: true}",
        "{timeout: 1, max_bytes: 5}",
        "{allow_private: true, enabled: false}",
    ]
    .map(|options| read(&format!("web: {options}")))
    .into();
    check_restrict(&all, |old, allowed| old.allow_private || !allowed.allow_private);
    assert_eq!(restrict(&all[0], &all[1]).1, ["packs.web.allow_private (on)"]);
    assert_eq!(restrict(&all[0], &all[2]).0, all[2], "limits are not rights");
}
