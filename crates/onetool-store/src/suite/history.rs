//! The call history.

use std::time::Duration;

use onetool_core::{Caller, JsonObject, ToolOutput};
use tokio::time::timeout;

use super::{MAX_WAIT, StoreFactory, ada, at, bob, caller, done};
use crate::store::{
    CallContent, CallFilter, CallWatch, MAX_CALLS, MAX_PINNED_CALLS, NewCall, PastCall, Store, Surface,
};

pub(super) fn call(tool: &str) -> NewCall {
    let arguments = JsonObject::from_iter([("tool".to_owned(), tool.into())]);
    NewCall {
        tool: tool.into(),
        at: at(5),
        duration: Duration::from_millis(7),
        is_error: false,
        surface: Surface::Agent,
        content: Some(CallContent { arguments, output: ToolOutput::text(tool) }),
    }
}

pub(super) async fn calls(store: &dyn Store, owner: &Caller) -> Vec<PastCall> {
    done(store.calls(owner, &CallFilter::default())).await
}

fn tools(calls: &[PastCall]) -> Vec<&str> {
    calls.iter().map(|it| it.tool.as_str()).collect()
}

async fn next(watch: &mut CallWatch) -> PastCall {
    timeout(MAX_WAIT, watch.next()).await.expect("a call is announced").expect("the store exists")
}

/// A filter limits them to a tool and a number.
pub async fn str_3_calls_are_returned_newest_first(factory: impl StoreFactory) {
    let store = factory.open();
    let failed = NewCall { is_error: true, surface: Surface::Code, ..call("a.b") };
    for call in [call("a.b"), call("c.d"), failed] {
        done(store.add_call(&ada(), call)).await;
    }
    let all = calls(&*store, &ada()).await;
    assert_eq!(tools(&all), ["a.b", "c.d", "a.b"]);
    let [newest, _, oldest] = &all[..] else { panic!("there are three calls") };
    assert_ne!(newest.id, oldest.id);
    assert_eq!((newest.is_error, newest.surface), (true, Surface::Code));
    assert_eq!((oldest.at, oldest.duration, oldest.is_error), (at(5), Duration::from_millis(7), false));
    assert_eq!((oldest.surface, oldest.is_pinned), (Surface::Agent, false));
    let filtered = |tool: Option<&str>, limit| CallFilter { tool: tool.map(str::to_owned), limit };
    let found = done(store.calls(&ada(), &filtered(Some("a.b"), None))).await;
    assert_eq!(found, [newest.clone(), oldest.clone()]);
    let found = done(store.calls(&ada(), &filtered(Some("a.b"), Some(1)))).await;
    assert_eq!(found.first(), Some(newest));
    assert_eq!(found.len(), 1);
    assert_eq!(done(store.calls(&ada(), &filtered(None, Some(2)))).await.len(), 2);
    let record = done(store.call(&ada(), &oldest.id)).await.expect("it is kept");
    assert_eq!((&record.call, Some(record.content)), (oldest, call("a.b").content));
    assert_eq!(done(store.call(&ada(), "not there")).await, None);
}

/// The profiles of a principal share a history; other principals have their own.
pub async fn str_3_the_history_is_returned_to_its_owner_alone(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.add_call(&ada(), call("a.b"))).await;
    let own = calls(&*store, &caller("ada", "other")).await;
    assert_eq!(tools(&own), ["a.b"]);
    let id = own[0].id.as_str();
    assert_eq!(calls(&*store, &bob()).await, []);
    assert_eq!(done(store.call(&bob(), id)).await, None);
    assert_eq!(done(store.pin_call(&bob(), id, true)).await, None);
    done(store.clear_calls(&bob())).await;
    assert_eq!(calls(&*store, &ada()).await, own, "nobody else pinned or deleted it");
}

/// Pinned calls do not count.
pub async fn str_3_the_oldest_calls_make_room_and_pinned_ones_stay(factory: impl StoreFactory) {
    let store = factory.open();
    for tool in ["pinned", "oldest", "second"] {
        done(store.add_call(&bob(), call(tool))).await;
    }
    let pinned = calls(&*store, &bob()).await.pop().expect("there are calls");
    let pinned = done(store.pin_call(&bob(), &pinned.id, true)).await.expect("it is there");
    assert!(pinned.is_pinned);
    for _ in 0..MAX_CALLS - 1 {
        done(store.add_call(&ada(), call("a.b"))).await;
    }
    assert_eq!(tools(&calls(&*store, &bob()).await), ["second", "pinned"]);
    assert_eq!(calls(&*store, &ada()).await.len(), MAX_CALLS - 1);
    done(store.pin_call(&bob(), &pinned.id, false)).await;
    done(store.add_call(&ada(), call("a.b"))).await;
    assert!(!tools(&calls(&*store, &bob()).await).contains(&"pinned"), "it counts again");
}

/// A call that cannot be pinned does not change.
pub async fn str_3_a_limited_number_of_calls_can_be_pinned(factory: impl StoreFactory) {
    let store = factory.open();
    for _ in 0..=MAX_PINNED_CALLS {
        done(store.add_call(&ada(), call("a.b"))).await;
    }
    let all = calls(&*store, &ada()).await;
    let pin = async |number: usize, is_pinned: bool| {
        let call = done(store.pin_call(&ada(), &all[number].id, is_pinned)).await;
        call.expect("it is there").is_pinned
    };
    for number in 0..MAX_PINNED_CALLS {
        assert!(pin(number, true).await);
    }
    assert!(!pin(MAX_PINNED_CALLS, true).await);
    assert!(pin(0, true).await, "it is pinned already");
    assert!(!pin(0, false).await);
    assert!(pin(MAX_PINNED_CALLS, true).await, "there is room again");
}

/// Only those of the owner are deleted.
pub async fn str_3_clearing_the_history_keeps_pinned_calls(factory: impl StoreFactory) {
    let store = factory.open();
    for tool in ["a.b", "c.d"] {
        done(store.add_call(&ada(), call(tool))).await;
    }
    done(store.add_call(&bob(), call("e.f"))).await;
    let pinned = calls(&*store, &ada()).await.remove(0);
    done(store.pin_call(&ada(), &pinned.id, true)).await;
    done(store.clear_calls(&ada())).await;
    assert_eq!(tools(&calls(&*store, &ada()).await), ["c.d"]);
    assert_eq!(tools(&calls(&*store, &bob()).await), ["e.f"]);
}

/// A call without content is announced and not kept.
pub async fn str_3_calls_are_announced_to_their_owner(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.add_call(&ada(), call("before"))).await;
    let (mut adas, mut bobs) = (store.watch_calls(&ada()), store.watch_calls(&bob()));
    done(store.add_call(&ada(), NewCall { content: None, ..call("a.b") })).await;
    done(store.add_call(&caller("ada", "other"), call("c.d"))).await;
    done(store.add_call(&bob(), call("e.f"))).await;
    let unkept = next(&mut adas).await;
    assert_eq!(unkept.tool.as_str(), "a.b");
    assert_eq!(done(store.call(&ada(), &unkept.id)).await, None);
    let kept = next(&mut adas).await;
    assert_eq!(done(store.call(&ada(), &kept.id)).await.map(|it| it.call), Some(kept));
    assert_eq!(next(&mut bobs).await.tool.as_str(), "e.f");
    assert_eq!(tools(&calls(&*store, &ada()).await), ["c.d", "before"]);
}
