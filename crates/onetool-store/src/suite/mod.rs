//! Tests that every implementation of [`Store`] has to pass.
//!
//! A crate with its own implementation depends on this one with the feature `suite`, and runs all of them:
//!
//! ```ignore
//! onetool_store::store_suite!(MyStores::new());
//! ```

mod events;
mod history;
mod legacy_servers;
mod queries;
mod results;
mod sessions;
mod switches;
mod whole;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use onetool_core::Caller;
use onetool_core::clock::Timestamp;
use onetool_core::state::Reply;

use crate::store::Store;

pub use events::*;
pub use history::*;
pub use legacy_servers::*;
pub use queries::*;
pub use results::*;
pub use sessions::*;
pub use switches::*;
pub use whole::*;

/// Opens stores for one test. Different factories have nothing in common.
pub trait StoreFactory {
    /// Opens the store. After the first time, opens again what the earlier ones left.
    fn open(&self) -> Arc<dyn Store>;

    /// Returns what is still there when the store was closed, dropped and opened again.
    fn survival(&self) -> Survival;

    /// Returns how many lists of sessions the store keeps, if it has a limit that a test can reach.
    fn max_sessions(&self) -> Option<usize>;
}

/// What is still there when a store is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survival {
    /// Results, events, remembered queries and legacy servers.
    pub records: bool,
    /// Sessions, their tools and keys, source switches and the call history.
    pub shared_state: bool,
}

/// Makes a test of every function in [`suite`](crate::suite). The argument is evaluated for each test and has to be a
/// [`StoreFactory`](crate::suite::StoreFactory).
#[macro_export]
macro_rules! store_suite {
    ($factory:expr) => {
        $crate::store_suite! { $factory;
            str_3_loaded_tools_are_returned_in_the_order_of_loading
            str_3_a_change_of_tools_says_whether_anything_changed
            str_3_only_changes_of_the_watched_sessions_are_noticed
            str_3_a_loaded_tool_may_be_active
            str_3_the_list_that_is_unchanged_for_longest_is_deleted_first
            str_3_the_sealing_keys_stay_the_same
            str_3_a_session_can_be_saved_resumed_and_ended
            str_3_a_result_is_returned_to_its_owner_alone
            str_3_the_parts_of_a_result_are_returned_by_lines
            str_3_parts_are_hidden_until_the_result_is_complete
            str_3_the_oldest_results_make_room_for_new_ones
            str_3_a_result_that_is_too_large_is_refused
            str_3_a_handle_is_used_once
            str_3_expired_results_lose_their_text_and_are_forgotten_later
            str_3_readable_results_are_listed_newest_first
            str_3_events_are_added_up_by_tool_day_and_run
            str_3_sums_can_be_limited_to_a_period_and_a_tool
            str_3_events_of_concurrent_writers_are_all_counted
            str_3_written_batches_are_marked
            str_3_sums_of_large_numbers_do_not_overflow
            str_3_queries_are_returned_oldest_first
            str_3_the_oldest_queries_of_a_tool_make_room_for_new_ones
            str_3_legacy_servers_can_be_set_replaced_and_forgotten
            str_3_the_oldest_legacy_servers_make_room_for_new_ones
            str_3_source_switches_are_kept_by_source
            str_3_only_changed_switches_are_noticed
            str_3_calls_are_returned_newest_first
            str_3_the_history_is_returned_to_its_owner_alone
            str_3_the_oldest_calls_make_room_and_pinned_ones_stay
            str_3_a_limited_number_of_calls_can_be_pinned
            str_3_clearing_the_history_keeps_pinned_calls
            str_3_calls_are_announced_to_their_owner
            str_3_what_survives_is_there_after_reopening
            str_3_a_closed_store_can_be_used_again
            str_3_dropping_a_reply_does_not_cancel_the_operation
            str_3_operations_take_effect_in_the_order_of_submission
            str_3_operations_can_be_submitted_without_a_runtime
            str_3_a_working_store_has_no_problem
        }
    };
    ($factory:expr; $($test:ident)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                $crate::suite::$test($factory).await;
            }
        )*
    };
}

/// How long a test waits for a notification.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Waits for an operation that has to work.
async fn done<T>(reply: Reply<T>) -> T {
    reply.await.expect("the store carries out the operation")
}

fn caller(principal: &str, profile: &str) -> Caller {
    Caller { principal: principal.into(), profile: profile.into() }
}

fn ada() -> Caller {
    caller("ada", "default")
}

fn bob() -> Caller {
    caller("bob", "default")
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}
