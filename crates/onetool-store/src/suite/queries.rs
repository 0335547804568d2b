//! Remembered queries.

use super::{StoreFactory, at, done};
use crate::store::{RememberedQuery, Store};

pub(super) async fn queries(store: &dyn Store) -> Vec<(String, String)> {
    let queries = done(store.remembered_queries()).await;
    queries.into_iter().map(|RememberedQuery { tool, query }| (tool, query)).collect()
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(tool, query)| (tool.to_owned(), query.to_owned())).into()
}

/// A query that leads to its tool again is as new as the last time.
pub async fn str_3_queries_are_returned_oldest_first(factory: impl StoreFactory) {
    let store = factory.open();
    assert_eq!(queries(&*store).await, []);
    for (millis, tool, query) in [(3, "a.b", "third"), (1, "c.d", "first"), (2, "a.b", "second")] {
        done(store.remember_query(tool, query, at(millis), 10)).await;
    }
    let expected = [("c.d", "first"), ("a.b", "second"), ("a.b", "third")];
    assert_eq!(queries(&*store).await, pairs(expected));
    done(store.remember_query("c.d", "first", at(4), 10)).await;
    done(store.remember_query("a.b", "third", at(0), 10)).await;
    let expected = [("a.b", "second"), ("a.b", "third"), ("c.d", "first")];
    assert_eq!(queries(&*store).await, pairs(expected));
}

/// The limit holds for each tool.
pub async fn str_3_the_oldest_queries_of_a_tool_make_room_for_new_ones(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.remember_query("c.d", "another tool", at(0), 2)).await;
    for (millis, query) in [(1, "first"), (2, "second"), (3, "third"), (4, "first"), (5, "fourth")] {
        done(store.remember_query("a.b", query, at(millis), 2)).await;
    }
    let expected = [("c.d", "another tool"), ("a.b", "first"), ("a.b", "fourth")];
    assert_eq!(queries(&*store).await, pairs(expected));
}
