//! Events and their sums.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::clock::Timestamp;

use super::{StoreFactory, at, done};
use crate::events::{Account, Batch, Event, Outcome, RunId};
use crate::store::{DaySum, RunSum, SessionSum, ToolSum};

const DAY: i64 = 86_400_000;

pub(super) fn call(tool: &str, outcome: Outcome, run: Option<RunId>) -> Event {
    Event::Call {
        tool: tool.into(),
        client: Some("test".into()),
        duration: Duration::from_millis(2),
        args_size: 10,
        output_size: 100,
        outcome,
        in_run: run,
    }
}

fn run(id: RunId, inner_calls: u64, outcome: Outcome) -> Event {
    Event::Run {
        id,
        client: None,
        duration: Duration::from_millis(5),
        code_size: 30,
        output_size: 60,
        inner_calls,
        inner_bytes: 100 * inner_calls,
        outcome,
    }
}

pub(super) fn batch(events: Vec<(Timestamp, Event)>) -> Batch {
    Batch::new(events, Arc::default())
}

fn tool(name: &str, calls: u64, succeeded: u64, in_runs: u64) -> ToolSum {
    ToolSum {
        tool: name.into(),
        calls,
        succeeded,
        duration_us: 2000 * calls,
        bytes: 110 * calls,
        bytes_in_runs: 100 * in_runs,
        bytes_direct: 110 * (calls - in_runs),
    }
}

/// Returns events of two days: two runs, five calls and a session.
fn two_days() -> Vec<(Timestamp, Event)> {
    let (good, bad) = (RunId::new(), RunId::new());
    vec![
        (at(DAY + 1), call("a.one", Outcome::Success, None)),
        (at(DAY + 2), call("b.two", Outcome::Success, Some(good))),
        (at(DAY + 3), call("b.two", Outcome::Failure, Some(good))),
        (at(DAY + 4), call("a.one", Outcome::Success, Some(good))),
        (at(DAY + 5), run(good, 3, Outcome::Success)),
        (at(2 * DAY), call("b.two", Outcome::Success, Some(bad))),
        (at(2 * DAY + 1), run(bad, 1, Outcome::Failure)),
        (at(2 * DAY + 2), Event::Session { client: None, kept_out: 500, own: 40 }),
    ]
}

/// Calls count for their tool and day, and runs for themselves.
pub async fn str_3_events_are_added_up_by_tool_day_and_run(factory: impl StoreFactory) {
    let store = factory.open();
    let nothing = done(store.event_sums(None, None)).await;
    assert_eq!(nothing, crate::store::EventSums::default());
    done(store.add_events(batch(two_days()))).await;
    let sums = done(store.event_sums(None, None)).await;
    assert_eq!(sums.tools, [tool("b.two", 3, 2, 3), tool("a.one", 2, 2, 1)]);
    let days = [
        DaySum { day: 1, calls: 4, succeeded: 3, runs: 1 },
        DaySum { day: 2, calls: 1, succeeded: 1, runs: 1 },
    ];
    assert_eq!(sums.days, days);
    let runs =
        RunSum { runs: 2, succeeded: 1, duration_us: 10_000, bytes: 180, inner_bytes: 400, beyond_first: 2 };
    assert_eq!(sums.runs, runs);
    assert_eq!(sums.sessions, SessionSum { sessions: 1, kept_out: 500, own: 40 });
}

/// A tool's share of a run is that of its calls.
pub async fn str_3_sums_can_be_limited_to_a_period_and_a_tool(factory: impl StoreFactory) {
    let store = factory.open();
    done(store.add_events(batch(two_days()))).await;
    let sums = done(store.event_sums(Some(at(2 * DAY)), None)).await;
    assert_eq!(sums.tools, [tool("b.two", 1, 1, 1)]);
    assert_eq!(sums.days, [DaySum { day: 2, calls: 1, succeeded: 1, runs: 1 }]);
    assert_eq!((sums.runs.runs, sums.sessions.sessions), (1, 1));
    let sums = done(store.event_sums(None, Some("b.two"))).await;
    assert_eq!(sums.tools, [tool("b.two", 3, 2, 3)]);
    let days = [
        DaySum { day: 1, calls: 2, succeeded: 1, runs: 0 },
        DaySum { day: 2, calls: 1, succeeded: 1, runs: 0 },
    ];
    assert_eq!(sums.days, days);
    // Two of three calls of a run of 90 bytes, and the only call of the other one.
    let runs =
        RunSum { runs: 2, succeeded: 1, duration_us: 10_000, bytes: 150, inner_bytes: 300, beyond_first: 1 };
    assert_eq!((sums.runs, sums.sessions), (runs, SessionSum::default()));
    let sums = done(store.event_sums(Some(at(2 * DAY)), Some("a.one"))).await;
    assert_eq!(sums, crate::store::EventSums::default());
}

/// Nothing is lost or counted twice.
pub async fn str_3_events_of_concurrent_writers_are_all_counted(factory: impl StoreFactory) {
    let store = factory.open();
    let writers = (0..4).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..25 {
                let events = (0..10)
                    .map(|_| (at(number), call(&format!("pack{writer}.tool"), Outcome::Success, None)));
                done(store.add_events(batch(events.collect()))).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("the writer ends");
    }
    let sums = done(store.event_sums(None, None)).await;
    let calls: Vec<u64> = sums.tools.iter().map(|it| it.calls).collect();
    assert_eq!(calls, [250; 4]);
}

/// A batch that is not marked counts as lost.
pub async fn str_3_written_batches_are_marked(factory: impl StoreFactory) {
    let store = factory.open();
    let account = Arc::new(Account::default());
    assert!(account.admit());
    let events = vec![(at(1), call("a.b", Outcome::Success, None))];
    done(store.add_events(Batch::new(events, account.clone()))).await;
    done(store.add_events(Batch::new(Vec::new(), account.clone()))).await;
    assert_eq!(account.dropped(), 0);
}

/// A number that cannot be real does not spoil the sums.
pub async fn str_3_sums_of_large_numbers_do_not_overflow(factory: impl StoreFactory) {
    let store = factory.open();
    let id = RunId::from_raw(i64::MIN);
    let call = Event::Call {
        tool: "a.b".into(),
        client: None,
        duration: Duration::MAX,
        args_size: u64::MAX,
        output_size: u64::MAX,
        outcome: Outcome::Success,
        in_run: Some(id),
    };
    let run = Event::Run {
        id,
        client: None,
        duration: Duration::MAX,
        code_size: u64::MAX,
        output_size: u64::MAX,
        inner_calls: u64::MAX,
        inner_bytes: u64::MAX,
        outcome: Outcome::Success,
    };
    let session = Event::Session { client: None, kept_out: u64::MAX, own: u64::MAX };
    let events = [call, run, session].map(|event| (at(1), event));
    for _ in 0..2 {
        done(store.add_events(batch(events.to_vec()))).await;
    }
    let sums = done(store.event_sums(None, None)).await;
    assert!(sums.tools[0].bytes > 1 << 40 && sums.sessions.own > 1 << 40);
    assert_eq!(done(store.event_sums(None, Some("a.b"))).await.runs.runs, 2);
}
