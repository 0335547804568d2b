//! What holds for everything in a store.

use onetool_core::state::{SessionKey, SessionState};
use onetool_core::{SessionId, ToolName};

use super::events::batch;
use super::history::calls;
use super::queries::queries;
use super::{StoreFactory, Survival, ada, at, done};
use crate::events::Outcome;
use crate::store::Store;

/// Submits a write of everything there is, and waits for nothing.
fn write_everything(store: &dyn Store) {
    let (id, key) = (SessionId::new("one"), SessionKey::Session(SessionId::new("one")));
    drop(store.add_result(&ada(), super::results::result("handle", at(1), at(1000)), u64::MAX));
    drop(store.add_events(batch(vec![(at(1), super::events::call("a.b", Outcome::Success, None))])));
    drop(store.remember_query("a.b", "query", at(1), 10));
    drop(store.set_legacy_server("command", Some("1"), at(1)));
    drop(store.save_session(&id, SessionState::default()));
    drop(store.change_active(&key, &[ToolName::new("a.b")], &[]));
    drop(store.set_source_switch("source", false));
    drop(store.add_call(&ada(), super::history::call("a.b")));
}

/// Returns how many of the writes of results, events, queries and legacy servers are there.
async fn count_records(store: &dyn Store) -> usize {
    let result = done(store.result(&ada(), &"handle".into())).await.is_some();
    let events = done(store.event_sums(None, None)).await.tools.len() == 1;
    let queries = queries(store).await.len() == 1;
    let legacy = done(store.legacy_server("command")).await.is_some();
    [result, events, queries, legacy].into_iter().filter(|is_there| *is_there).count()
}

/// Returns how many of the writes of sessions, tools, switches and calls are there.
async fn count_shared_state(store: &dyn Store) -> usize {
    let id = SessionId::new("one");
    let session = done(store.session(&id)).await.is_some();
    let tools = done(store.active(&SessionKey::Session(id))).await.len() == 1;
    let switch = done(store.source_switches()).await.get("source") == Some(&false);
    let calls = calls(store, &ada()).await.len() == 1;
    [session, tools, switch, calls].into_iter().filter(|is_there| *is_there).count()
}

/// What the factory says survives does, and nothing else.
pub async fn str_3_what_survives_is_there_after_reopening(factory: impl StoreFactory) {
    let store = factory.open();
    write_everything(&*store);
    let keys: Vec<[u8; 32]> = done(store.sealing_keys()).await.iter().copied().collect();
    done(store.close()).await;
    drop(store);
    let store = factory.open();
    let Survival { records, shared_state } = factory.survival();
    assert_eq!(count_records(&*store).await, if records { 4 } else { 0 });
    assert_eq!(count_shared_state(&*store).await, if shared_state { 4 } else { 0 });
    let again: Vec<[u8; 32]> = done(store.sealing_keys()).await.iter().copied().collect();
    assert_eq!(again == keys, shared_state);
}

/// Closing waits for what was submitted, and the next use opens the store again.
pub async fn str_3_a_closed_store_can_be_used_again(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.close()).await;
    write_everything(&*store);
    done(store.close()).await;
    assert_eq!((count_records(&*store).await, count_shared_state(&*store).await), (4, 4));
    done(store.close()).await;
}

/// An operation is submitted when its method is called.
pub async fn str_3_dropping_a_reply_does_not_cancel_the_operation(factory: impl StoreFactory) {
    let store = factory.open();
    write_everything(&*store);
    assert_eq!((count_records(&*store).await, count_shared_state(&*store).await), (4, 4));
}

/// The last of several writes wins, and a read sees the writes before it and not those after it.
pub async fn str_3_operations_take_effect_in_the_order_of_submission(factory: impl StoreFactory) {
    let store = factory.open();
    let key = SessionKey::Caller(ada());
    let mut reads = Vec::new();
    for number in 0..50 {
        drop(store.set_legacy_server("command", Some(&number.to_string()), at(number)));
        drop(store.change_active(&key, &[ToolName::new(format!("a.tool{number}"))], &[]));
        reads.push((number, store.legacy_server("command"), store.active(&key)));
    }
    // In another order: what counts is when they were submitted.
    for (number, version, tools) in reads.into_iter().rev() {
        assert_eq!(done(version).await, Some(number.to_string()));
        assert_eq!(i64::try_from(done(tools).await.len()), Ok(number + 1));
    }
}

/// The thread of a handler may not belong to a runtime.
pub async fn str_3_operations_can_be_submitted_without_a_runtime(factory: impl StoreFactory) {
    let store = factory.open();
    let elsewhere = store.clone();
    std::thread::spawn(move || write_everything(&*elsewhere)).join().expect("nothing panics");
    assert_eq!((count_records(&*store).await, count_shared_state(&*store).await), (4, 4));
}

/// Nothing is wrong with a store that works.
pub async fn str_3_a_working_store_has_no_problem(factory: impl StoreFactory) {
    let store = factory.open();
    write_everything(&*store);
    assert_eq!(count_records(&*store).await, 4);
    let health = store.health();
    assert_eq!(health.problem, None);
    assert!(health.size_bytes.is_some() || store.files().is_empty(), "a file has a size");
}
