//! Tests of the options of the pack `db`.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

const SHOP: &str = "urls: {shop: 'sqlite:shop.db', logs: 'postgres://reader:${TOKEN}@db.example/logs'}";

#[test]
fn without_urls_there_is_no_pack() {
    let options: DbOptions = read("");
    assert_eq!((options.is_enabled(), *options.timeout), (false, Duration::from_secs(30)));
    assert!(!read::<DbOptions>("db: {urls: {}}").is_enabled());
    assert!(read::<DbOptions>(&format!("db: {{{SHOP}}}")).is_enabled());
    assert!(!read::<DbOptions>(&format!("db: {{{SHOP}, enabled: false}}")).is_enabled());
}

#[test]
fn databases_have_their_addresses_and_rights() {
    let options: DbOptions =
        read(&format!("db: {{{SHOP}, writable: [shop], privileged: [logs], timeout: 5}}"));
    let (shop, logs) = (&options.databases["shop"], &options.databases["logs"]);
    assert_eq!(shop.address, DatabaseAddress::Sqlite("/etc/shop.db".into()));
    assert_eq!(
        (shop.is_writable, shop.is_privileged, logs.is_writable, logs.is_privileged),
        (true, false, false, true)
    );
    assert_eq!(options.used_files(), [Path::new("/etc/shop.db")]);
    assert_eq!(options.secrets().len(), 1, "only the URL of PostgreSQL may contain a password");
    assert!(options.secrets()[0].expose().contains("canary-4711"));
    assert!(!format!("{options:?}").contains("canary"), "{options:?}");
    assert!(options.urls.is_empty() && options.writable.is_empty() && options.privileged.is_empty());
    let postgresql: DbOptions = read("db: {urls: {a: 'postgresql://localhost/a'}}");
    assert!(matches!(postgresql.databases["a"].address, DatabaseAddress::Postgres(_)));
}

#[test]
fn invalid_databases_are_errors_with_their_keys() {
    for url in ["shop.db", "sqlite:", "mysql://localhost/a", "", "http://a.example"] {
        let message = error::<DbOptions>(&format!("db: {{urls: {{a: '{url}'}}}}"));
        assert_eq!(message, "'db.urls.a': must be 'sqlite:' and a file, or begin with postgres://", "{url}");
    }
    assert_eq!(
        error::<DbOptions>(&format!("db: {{{SHOP}, writable: [shop, stop]}}")),
        "'db.writable[1]': no database under 'urls' is named 'stop'"
    );
    assert_eq!(
        error::<DbOptions>(&format!("db: {{{SHOP}, privileged: [x]}}")),
        "'db.privileged[0]': no database under 'urls' is named 'x'"
    );
    assert_eq!(
        error::<DbOptions>("db: {urls: {' ': 'sqlite:a'}}"),
        "'db.urls. ': the name must not be empty"
    );
    assert_eq!(
        error::<DbOptions>("db: {timeout: 0}"),
        "'db.timeout': must be more than 0 and at most 86400 seconds"
    );
}

#[test]
fn an_agent_can_take_rights_away_but_not_add_them() {
    let all: Vec<DbOptions> = [
        format!("{{{SHOP}}}"),
        format!("{{{SHOP}, writable: [shop, logs]}}"),
        format!("{{{SHOP}, privileged: [logs], timeout: 5}}"),
        "{urls: {shop: 'sqlite:other.db'}, writable: [shop]}".to_owned(),
        "{urls: {new: 'sqlite:new.db'}}".to_owned(),
        "{}".to_owned(),
    ]
    .map(|options| read(&format!("db: {options}")))
    .into();
    check_restrict(&all, |old, allowed| {
        allowed.databases.iter().all(|(name, database)| {
            old.databases.get(name).is_some_and(|old| {
                (old.is_writable || !database.is_writable)
                    && (old.is_privileged || !database.is_privileged)
                    && (&old.written, &old.address) == (&database.written, &database.address)
            })
        })
    });
    let (allowed, waiting) = restrict(&all[1], &all[2]);
    assert!(!allowed.databases["shop"].is_writable, "the stricter part applies");
    assert_eq!(waiting, ["packs.db.urls.logs (changed)"]);
    assert_eq!(*allowed.timeout, Duration::from_secs(5));
    assert_eq!(restrict(&all[0], &all[4]).1, ["packs.db.urls.new (new)"]);
}
