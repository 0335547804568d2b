//! Source switches.

use tokio::time::timeout;

use super::{MAX_WAIT, StoreFactory, done};

/// The switch that was set last counts.
pub async fn str_3_source_switches_are_kept_by_source(factory: impl StoreFactory) {
    let store = factory.open();
    assert!(done(store.source_switches()).await.is_empty());
    done(store.set_source_switch("one", false)).await;
    done(store.set_source_switch("two", false)).await;
    done(store.set_source_switch("one", true)).await;
    let switches = done(store.source_switches()).await;
    assert_eq!((switches.len(), switches.get("one"), switches.get("two")), (2, Some(&true), Some(&false)));
}

/// The version says only that something changed; the switches themselves are read.
pub async fn str_3_only_changed_switches_are_noticed(factory: impl StoreFactory) {
    let store = factory.open();
    let mut early = store.watch_source_switches();
    let before = *early.borrow_and_update();
    done(store.set_source_switch("one", false)).await;
    timeout(MAX_WAIT, early.changed()).await.expect("the change is noticed").expect("the store exists");
    assert!(*early.borrow_and_update() > before);
    let late = store.watch_source_switches();
    done(store.set_source_switch("one", false)).await;
    assert!(!late.has_changed().expect("the store exists"), "it was set already");
    assert!(!early.has_changed().expect("the store exists"));
    let mut late = late;
    done(store.set_source_switch("one", true)).await;
    timeout(MAX_WAIT, late.changed()).await.expect("the change is noticed").expect("the store exists");
}
