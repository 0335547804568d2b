//! Servers that must be started with `initialize`.

use super::{StoreFactory, at, done};
use crate::store::MAX_LEGACY_SERVERS;

/// Each command has one version.
pub async fn str_3_legacy_servers_can_be_set_replaced_and_forgotten(factory: impl StoreFactory) {
    let store = factory.open();
    assert_eq!(done(store.legacy_server("one")).await, None);
    done(store.set_legacy_server("one", Some("0.1"), at(1))).await;
    done(store.set_legacy_server("two", Some("7"), at(2))).await;
    done(store.set_legacy_server("one", Some("0.2"), at(3))).await;
    assert_eq!(done(store.legacy_server("one")).await.as_deref(), Some("0.2"));
    done(store.set_legacy_server("one", None, at(4))).await;
    done(store.set_legacy_server("not there", None, at(4))).await;
    assert_eq!(done(store.legacy_server("one")).await, None);
    assert_eq!(done(store.legacy_server("two")).await.as_deref(), Some("7"));
}

/// A command that is set again is as new as the last time.
pub async fn str_3_the_oldest_legacy_servers_make_room_for_new_ones(factory: impl StoreFactory) {
    let store = factory.open();
    let millis = |number: usize| at(i64::try_from(number).unwrap_or(i64::MAX));
    for number in 0..MAX_LEGACY_SERVERS {
        drop(store.set_legacy_server(&number.to_string(), Some("1"), millis(number)));
    }
    drop(store.set_legacy_server("0", Some("2"), millis(MAX_LEGACY_SERVERS)));
    done(store.set_legacy_server("new", Some("1"), millis(MAX_LEGACY_SERVERS + 1))).await;
    assert_eq!(done(store.legacy_server("0")).await.as_deref(), Some("2"));
    assert_eq!(done(store.legacy_server("1")).await, None);
    assert_eq!(done(store.legacy_server("2")).await.as_deref(), Some("1"));
}
