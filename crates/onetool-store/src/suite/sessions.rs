//! What sessions share.

use onetool_core::state::{SealingKeys, SessionKey, SessionState, SessionWatch};
use onetool_core::{JsonObject, LogLevel, SessionId, ToolName};
use tokio::time::timeout;

use super::{MAX_WAIT, StoreFactory, ada, bob, done};
use crate::store::Store;

fn session(id: &str) -> SessionKey {
    SessionKey::Session(SessionId::new(id))
}

fn names<const N: usize>(names: [&str; N]) -> [ToolName; N] {
    names.map(ToolName::new)
}

async fn loaded(store: &dyn Store, session: &SessionKey) -> Vec<String> {
    done(store.active(session)).await.iter().map(ToString::to_string).collect()
}

/// Returns whether a watch notices a change.
async fn notices(watch: &mut SessionWatch) -> bool {
    timeout(MAX_WAIT, watch.changed()).await.is_ok()
}

/// Each session, each caller and all sessions of a caller have separate lists.
pub async fn str_3_loaded_tools_are_returned_in_the_order_of_loading(factory: impl StoreFactory) {
    let store = factory.open();
    let keys = [session("one"), session("two"), SessionKey::Caller(ada()), SessionKey::Every(ada())];
    for key in &keys {
        assert_eq!(loaded(&*store, key).await, [""; 0]);
    }
    done(store.change_active(&keys[0], &names(["z.z", "a.a", "m.m"]), &[])).await;
    done(store.change_active(&keys[0], &names(["a.a", "b.b"]), &names(["z.z", "not.there"]))).await;
    assert_eq!(loaded(&*store, &keys[0]).await, ["a.a", "m.m", "b.b"]);
    done(store.change_active(&keys[2], &names(["c.c"]), &[])).await;
    done(store.change_active(&keys[3], &names(["d.d"]), &[])).await;
    assert_eq!(loaded(&*store, &keys[1]).await, [""; 0]);
    assert_eq!(loaded(&*store, &keys[2]).await, ["c.c"]);
    assert_eq!(loaded(&*store, &keys[3]).await, ["d.d"]);
    assert_eq!(loaded(&*store, &SessionKey::Caller(bob())).await, [""; 0]);
}

/// Loading a tool that is on the list, or removing one that is not on it, is not a change.
pub async fn str_3_a_change_of_tools_says_whether_anything_changed(factory: impl StoreFactory) {
    let (store, key, tools) = (factory.open(), session("one"), names(["a.b"]));
    assert!(done(store.change_active(&key, &tools, &[])).await);
    assert!(!done(store.change_active(&key, &tools, &[])).await);
    assert!(!done(store.change_active(&key, &tools, &tools)).await);
    assert!(done(store.change_active(&key, &[], &tools)).await);
    assert!(!done(store.change_active(&key, &[], &tools)).await);
}

/// A watch notices what changes after it was created.
pub async fn str_3_only_changes_of_the_watched_sessions_are_noticed(factory: impl StoreFactory) {
    let store = factory.open();
    let mut early = store.watch_active(vec![session("one"), SessionKey::Every(ada())]);
    done(store.change_active(&session("two"), &names(["a.b"]), &[])).await;
    done(store.change_active(&session("one"), &[], &names(["a.b"]))).await;
    assert_eq!(early.changes(), 0, "another session, and no change");
    done(store.change_active(&session("one"), &names(["a.b"]), &[])).await;
    assert!(notices(&mut early).await);
    let mut late = store.watch_active(vec![session("one")]);
    assert_eq!(late.changes(), 0, "what was before does not count");
    done(store.change_active(&SessionKey::Every(ada()), &names(["a.b"]), &[])).await;
    assert!(notices(&mut early).await);
    done(store.change_active(&session("one"), &[], &names(["a.b"]))).await;
    assert!(notices(&mut late).await && notices(&mut early).await);
}

/// A store may say yes when in doubt, never no.
pub async fn str_3_a_loaded_tool_may_be_active(factory: impl StoreFactory) {
    let store = factory.open();
    let tools = names(["a.b"]);
    done(store.change_active(&session("one"), &tools, &[])).await;
    done(store.change_active(&session("two"), &tools, &[])).await;
    assert!(store.may_be_active(&tools[0]));
    done(store.change_active(&session("one"), &[], &tools)).await;
    assert!(store.may_be_active(&tools[0]));
}

/// A store with a limit deletes lists that nobody changed for a long time.
pub async fn str_3_the_list_that_is_unchanged_for_longest_is_deleted_first(factory: impl StoreFactory) {
    let Some(max) = factory.max_sessions() else { return };
    let (store, tools) = (factory.open(), names(["a.b"]));
    for number in 0..max {
        done(store.change_active(&session(&number.to_string()), &tools, &[])).await;
    }
    done(store.change_active(&session("0"), &names(["c.d"]), &[])).await;
    done(store.change_active(&session("new"), &tools, &[])).await;
    assert_eq!(loaded(&*store, &session("0")).await, ["a.b", "c.d"]);
    assert_eq!(loaded(&*store, &session("1")).await, [""; 0]);
    assert_eq!(loaded(&*store, &session("2")).await, ["a.b"]);
}

/// What was sealed has to open later.
pub async fn str_3_the_sealing_keys_stay_the_same(factory: impl StoreFactory) {
    let bytes = |keys: &SealingKeys| keys.iter().copied().collect::<Vec<_>>();
    let store = factory.open();
    let (first, second) = tokio::join!(store.sealing_keys(), store.sealing_keys());
    let first = bytes(&first.expect("there are keys"));
    assert_eq!(bytes(&second.expect("there are keys")), first);
    assert!(!first.is_empty() && first[0] != [0; 32]);
}

/// The state that was saved last is returned, until the session ends.
pub async fn str_3_a_session_can_be_saved_resumed_and_ended(factory: impl StoreFactory) {
    let store = factory.open();
    let (id, other) = (SessionId::new("one"), SessionId::new("two"));
    assert!(done(store.session(&id)).await.is_none());
    let initialize = JsonObject::from_iter([("clientInfo".to_owned(), serde_json::json!({"name": "test"}))]);
    let state = SessionState { initialize, log_level: None, watched: Vec::new() };
    done(store.save_session(&id, state.clone())).await;
    let changed = SessionState {
        log_level: Some(LogLevel::Warning),
        watched: vec!["file:///a".into(), "file:///b".into()],
        ..state.clone()
    };
    done(store.save_session(&other, state.clone())).await;
    done(store.save_session(&id, changed.clone())).await;
    assert_eq!(done(store.session(&id)).await.as_deref(), Some(&changed));
    assert_eq!(done(store.session(&other)).await.as_deref(), Some(&state));
    for key in [session("one"), session("two")] {
        done(store.change_active(&key, &names(["a.b"]), &[])).await;
    }
    done(store.end_session(&id)).await;
    done(store.end_session(&id)).await;
    assert!(done(store.session(&id)).await.is_none());
    assert_eq!(loaded(&*store, &session("one")).await, [""; 0]);
    assert!(done(store.session(&other)).await.is_some());
    assert_eq!(loaded(&*store, &session("two")).await, ["a.b"]);
}
