//! Results.

use onetool_core::clock::Timestamp;
use onetool_core::state::StoreError;

use super::{StoreFactory, ada, at, bob, caller, done};
use crate::store::{KeptResult, KeptText, ResultHandle, ResultInfo, ResultPart, Store};

const NEVER: Timestamp = Timestamp::from_millis(i64::MAX);

/// Returns a result of four bytes.
pub(super) fn result(handle: &str, created_at: Timestamp, expires_at: Timestamp) -> KeptResult {
    let info = ResultInfo {
        handle: handle.into(),
        is_json: true,
        created_at,
        expires_at,
        total_lines: 1,
        size_bytes: 4,
    };
    KeptResult { info, text: KeptText::Whole("text".into()) }
}

fn in_parts(handle: &str, created_at: Timestamp, total_lines: usize) -> KeptResult {
    let mut result = result(handle, created_at, NEVER);
    result.info.total_lines = total_lines;
    result.text = KeptText::InParts;
    result
}

async fn add(store: &dyn Store, result: KeptResult) {
    done(store.add_result(&ada(), result, u64::MAX)).await;
}

async fn add_part(store: &dyn Store, handle: &str, first_line: usize, created_at: Timestamp) {
    let part = ResultPart { first_line, text: format!("from {first_line}\n") };
    done(store.add_result_part(&handle.into(), part, created_at)).await;
}

async fn get(store: &dyn Store, handle: &str) -> Option<KeptResult> {
    done(store.result(&ada(), &handle.into())).await
}

/// Returns the first lines of the parts that contain some lines.
async fn parts(store: &dyn Store, handle: &str, lines: std::ops::Range<usize>) -> Vec<usize> {
    let parts = done(store.result_parts(&ada(), &handle.into(), lines)).await;
    assert!(parts.iter().all(|part| part.text == format!("from {}\n", part.first_line)));
    parts.iter().map(|part| part.first_line).collect()
}

/// Principal and profile have to be the same.
pub async fn str_3_a_result_is_returned_to_its_owner_alone(factory: impl StoreFactory) {
    let store = factory.open();
    let kept = result("whole", at(1), at(9));
    add(&*store, kept.clone()).await;
    add_part(&*store, "parts", 0, at(1)).await;
    add(&*store, in_parts("parts", at(1), 1)).await;
    assert_eq!(get(&*store, "whole").await, Some(kept));
    assert_eq!(get(&*store, "not there").await, None);
    for other in [bob(), caller("ada", "other"), caller("bob", "other")] {
        for handle in ["whole", "parts"].map(ResultHandle::from) {
            assert_eq!(done(store.result(&other, &handle)).await, None, "{other:?}");
            assert_eq!(done(store.result_parts(&other, &handle, 0..9)).await, [], "{other:?}");
        }
        assert_eq!(done(store.results(&other, at(2))).await, [], "{other:?}");
    }
}

/// The part that contains the first line may begin before it.
pub async fn str_3_the_parts_of_a_result_are_returned_by_lines(factory: impl StoreFactory) {
    let store = factory.open();
    for first_line in [0, 10, 20] {
        add_part(&*store, "large", first_line, at(1)).await;
        add_part(&*store, "other", first_line + 1, at(1)).await;
    }
    add(&*store, in_parts("large", at(1), 30)).await;
    assert_eq!(get(&*store, "large").await, Some(in_parts("large", at(1), 30)));
    assert_eq!(parts(&*store, "large", 0..30).await, [0, 10, 20]);
    assert_eq!(parts(&*store, "large", 0..usize::MAX).await, [0, 10, 20]);
    assert_eq!(parts(&*store, "large", 3..5).await, [0]);
    assert_eq!(parts(&*store, "large", 9..11).await, [0, 10]);
    assert_eq!(parts(&*store, "large", 10..20).await, [10]);
    assert_eq!(parts(&*store, "large", 25..26).await, [20]);
    assert_eq!(parts(&*store, "large", 10..10).await, [0; 0]);
}

/// Parts without a result belong to nobody, and can be deleted.
pub async fn str_3_parts_are_hidden_until_the_result_is_complete(factory: impl StoreFactory) {
    let store = factory.open();
    add_part(&*store, "large", 0, at(1)).await;
    assert_eq!(parts(&*store, "large", 0..9).await, [0; 0]);
    assert_eq!(get(&*store, "large").await, None);
    done(store.drop_result_parts(&"large".into())).await;
    add_part(&*store, "large", 5, at(1)).await;
    add(&*store, in_parts("large", at(1), 9)).await;
    assert_eq!(parts(&*store, "large", 0..9).await, [5], "the first one was deleted");
}

/// The limit holds for the results of all owners together.
pub async fn str_3_the_oldest_results_make_room_for_new_ones(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.add_result(&ada(), result("second", at(2), NEVER), 12)).await;
    done(store.add_result(&bob(), result("first", at(1), NEVER), 12)).await;
    add_part(&*store, "third", 0, at(3)).await;
    done(store.add_result(&ada(), in_parts("third", at(3), 1), 12)).await;
    done(store.add_result(&ada(), result("fourth", at(4), NEVER), 12)).await;
    let first = done(store.result(&bob(), &"first".into())).await.expect("it is still known");
    assert_eq!((first.text, first.info.expires_at), (KeptText::Deleted, at(1)), "it has expired");
    assert_eq!(get(&*store, "second").await, Some(result("second", at(2), NEVER)));
    done(store.add_result(&ada(), result("fifth", at(5), NEVER), 8)).await;
    for handle in ["second", "third"] {
        assert_eq!(get(&*store, handle).await.map(|it| it.text), Some(KeptText::Deleted), "{handle}");
    }
    assert_eq!(parts(&*store, "third", 0..9).await, [0; 0]);
    let readable = done(store.results(&ada(), at(6))).await;
    let handles: Vec<&str> = readable.iter().map(|it| it.handle.as_str()).collect();
    assert_eq!(handles, ["fifth", "fourth"]);
}

/// A result that is refused changes nothing.
pub async fn str_3_a_result_that_is_too_large_is_refused(factory: impl StoreFactory) {
    let store = factory.open();
    add(&*store, result("there", at(1), NEVER)).await;
    let refused = store.add_result(&ada(), result("refused", at(2), NEVER), 3).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { size: 4, max: 3 })), "{refused:?}");
    let mut large = result("large", at(2), NEVER);
    large.info.size_bytes = store.max_result() + 1;
    let refused = store.add_result(&ada(), large, u64::MAX).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })), "{refused:?}");
    assert_eq!(get(&*store, "refused").await, None);
    assert_eq!(get(&*store, "large").await, None);
    assert_eq!(get(&*store, "there").await, Some(result("there", at(1), NEVER)));
}

/// Nobody can replace a result, not even one of another owner.
pub async fn str_3_a_handle_is_used_once(factory: impl StoreFactory) {
    let store = factory.open();
    add(&*store, result("one", at(1), NEVER)).await;
    assert!(store.add_result(&bob(), result("one", at(2), NEVER), u64::MAX).await.is_err());
    assert_eq!(get(&*store, "one").await, Some(result("one", at(1), NEVER)));
    assert_eq!(done(store.result(&bob(), &"one".into())).await, None);
}

/// First a result is expired, then not found.
pub async fn str_3_expired_results_lose_their_text_and_are_forgotten_later(factory: impl StoreFactory) {
    let store = factory.open();
    add(&*store, result("old", at(10), at(20))).await;
    add(&*store, result("new", at(10), at(30))).await;
    add_part(&*store, "parts", 0, at(10)).await;
    let mut large = in_parts("parts", at(10), 1);
    large.info.expires_at = at(20);
    add(&*store, large).await;
    add_part(&*store, "incomplete", 0, at(10)).await;
    done(store.expire_results(at(20), at(5))).await;
    for handle in ["old", "parts"] {
        assert_eq!(get(&*store, handle).await.map(|it| it.text), Some(KeptText::Deleted), "{handle}");
    }
    assert_eq!(parts(&*store, "parts", 0..9).await, [0; 0]);
    assert_eq!(get(&*store, "new").await, Some(result("new", at(10), at(30))));
    done(store.expire_results(at(30), at(20))).await;
    assert_eq!(get(&*store, "old").await, None);
    assert_eq!(get(&*store, "new").await.map(|it| it.text), Some(KeptText::Deleted));
    add(&*store, in_parts("incomplete", at(10), 1)).await;
    assert_eq!(parts(&*store, "incomplete", 0..9).await, [0; 0], "it was too old");
}

/// Those that expired or were deleted are not listed.
pub async fn str_3_readable_results_are_listed_newest_first(factory: impl StoreFactory) {
    let store = factory.open();
    for (handle, created, expires) in [("b", 2, 20), ("c", 3, 20), ("a", 2, 20), ("expired", 1, 10)] {
        add(&*store, result(handle, at(created), at(expires))).await;
    }
    let listed = done(store.results(&ada(), at(10))).await;
    let expected =
        ["c", "a", "b"].map(|handle| result(handle, at(if handle == "c" { 3 } else { 2 }), at(20)).info);
    assert_eq!(listed, expected);
    done(store.expire_results(at(20), at(0))).await;
    assert_eq!(done(store.results(&ada(), at(10))).await, []);
}
