//! Events, sums and the page.

use std::fs;

use serde_json::json;

use super::*;
use crate::{MemoryStore, SqliteStore};

/// 2026-07-28, noon.
const NOON: Timestamp = Timestamp::from_millis(1_785_240_000_000);
const DAY: Duration = Duration::from_hours(24);

fn stats() -> (Stats, Clock) {
    let clock = Clock::fake(NOON);
    (Stats::new(Arc::new(MemoryStore::default()), clock.clone(), StatsOptions::default()), clock)
}

fn call(tool: &str, output_size: u64) -> Event {
    Event::Call {
        tool: tool.into(),
        client: Some("test".into()),
        duration: Duration::from_millis(10),
        args_size: 0,
        output_size,
        outcome: Outcome::Success,
        in_run: None,
    }
}

fn failed(tool: &str) -> Event {
    let mut event = call(tool, 0);
    if let Event::Call { outcome, .. } = &mut event {
        *outcome = Outcome::Failure;
    }
    event
}

/// Records a run that calls each of the tools once, with 400 bytes each.
fn run(stats: &Stats, tools: &[&str], code_size: u64, output_size: u64) {
    let id = RunId::new();
    for tool in tools {
        let mut event = call(tool, 400);
        if let Event::Call { in_run, .. } = &mut event {
            *in_run = Some(id);
        }
        stats.record(event);
    }
    stats.record(Event::Run {
        id,
        client: None,
        duration: Duration::from_millis(30),
        code_size,
        output_size,
        inner_calls: tools.len() as u64,
        inner_bytes: 400 * tools.len() as u64,
        outcome: Outcome::Success,
    });
}

async fn all(stats: &Stats) -> StatsReport {
    stats.report(Period::All, None).await.unwrap()
}

#[tokio::test]
async fn ot_6_1_the_report_has_totals_and_each_tool() {
    let (stats, _) = stats();
    for _ in 0..2 {
        stats.record(call("brave.search", 1000));
    }
    stats.record(failed("brave.search"));
    stats.record(call("web.fetch", 50));
    let report = serde_json::to_value(all(&stats).await).unwrap();
    assert_eq!(report["total_calls"], 4);
    assert_eq!(report["success_rate"], 75.0);
    assert_eq!(report["context_saved"], 0);
    assert_eq!(report["time_saved_ms"], 0);
    let expected = json!([
        {"tool": "brave.search", "calls": 3, "success_rate": 66.7, "avg_ms": 10.0, "total_bytes": 2000},
        {"tool": "web.fetch", "calls": 1, "success_rate": 100.0, "avg_ms": 10.0, "total_bytes": 50},
    ]);
    assert_eq!(report["tools"], expected);
    assert_eq!(report["packs"][0]["pack"], "brave");
    assert_eq!(report["per_day"], json!([{"day": "2026-07-28", "calls": 4, "failed": 1, "runs": 0}]));
}

#[tokio::test]
async fn ot_6_1_without_calls_there_is_no_rate() {
    let report = all(&stats().0).await;
    assert_eq!((report.total_calls, report.success_rate), (0, None));
    assert_eq!((report.context_saved, report.time_saved_ms), (0, 0));
}

#[tokio::test]
async fn ot_6_1_rates_never_round_to_all_or_none() {
    let (stats, _) = stats();
    stats.record(failed("a.b"));
    for _ in 0..4999 {
        stats.record(call("a.b", 1));
    }
    assert_eq!(all(&stats).await.success_rate, Some(99.9));
}

#[tokio::test]
async fn ot_6_2_a_period_holds_what_happened_in_it() {
    let (stats, clock) = stats();
    for age in [100, 29, 6, 0] {
        let past = Clock::fake(NOON.before(DAY * age));
        let shared = Stats::new(stats.0.store.clone(), past, StatsOptions::default());
        shared.record(call("a.b", 1));
        shared.flush().await;
    }
    clock.advance(Duration::from_hours(1));
    let periods = [(Period::Day, 1), (Period::Week, 2), (Period::Month, 3), (Period::All, 4)];
    for (period, calls) in periods {
        let report = stats.report(period, None).await.unwrap();
        assert_eq!(report.total_calls, calls, "{period:?}");
        assert_eq!(report.per_day.len() as u64, calls, "{period:?}");
    }
}

#[tokio::test]
async fn ot_6_3_the_tool_narrows_the_totals_too() {
    let (stats, _) = stats();
    stats.set_definition_tokens(10_000, 500);
    stats.saw_session("one", None);
    run(&stats, &["brave.search", "brave.search", "web.fetch", "web.fetch"], 40, 360);
    stats.record(failed("brave.search"));
    let report = stats.report(Period::All, Some("brave.search")).await.unwrap();
    assert_eq!((report.total_calls, report.tools.len(), report.packs.len()), (3, 1, 1));
    assert_eq!(report.success_rate, Some(66.7));
    // Two of four calls: their own results, and half of what the run cost.
    let parts = ContextParts { definitions_kept_out: 0, inner_results_kept_in: 200, own_cost: 50 };
    assert_eq!((report.context_saved, report.context_saved_parts), (150, parts));
    assert_eq!(report.time_saved_parts.inner_calls_beyond_first, 1);
    let nothing = stats.report(Period::All, Some("no.such")).await.unwrap();
    assert_eq!((nothing.total_calls, nothing.success_rate, nothing.context_saved), (0, None, 0));
}

#[tokio::test]
async fn saved_figures_are_the_sum_of_their_parts() {
    let (stats, _) = stats();
    stats.set_definition_tokens(10_000, 500);
    for _ in 0..3 {
        stats.saw_session("one", Some("client"));
    }
    stats.saw_session("two", None);
    run(&stats, &["brave.search", "web.fetch", "ot.tools"], 40, 360);
    run(&stats, &["web.fetch"], 4, 400);
    run(&stats, &[], 4, 4);
    // A direct call of another tool costs what it would cost without us; one of our own does not.
    stats.record(call("brave.search", 4000));
    stats.record(call("tool_find", 800));
    let report = all(&stats).await;
    let parts = ContextParts {
        definitions_kept_out: 20_000,
        inner_results_kept_in: 300,
        own_cost: 1000 + (400 + 404 + 8 + 800) / 4,
    };
    assert_eq!(report.context_saved_parts, parts);
    assert_eq!(report.context_saved, 20_000 + 300 - 1403);
    assert_eq!(report.time_saved_parts, TimeParts { inner_calls_beyond_first: 2, turn_ms: 4000 });
    assert_eq!((report.time_saved_ms, report.sessions, report.runs.runs), (8000, 2, 3));
    assert_eq!(report.per_day[0].runs, 3);
}

#[tokio::test]
async fn what_costs_more_than_it_saves_is_negative() {
    let (stats, _) = stats();
    run(&stats, &["ot.tools"], 100, 400);
    let report = all(&stats).await;
    assert_eq!(report.context_saved, -125);
    let page = html(&report, "t");
    assert!(page.contains("−125 tokens") && page.contains("more was spent than saved"));
}

#[tokio::test]
async fn ot_6_5_disabled_statistics_say_so() {
    let options = StatsOptions { enabled: false, ..StatsOptions::default() };
    let store = Arc::new(MemoryStore::default());
    let stats = Stats::new(store.clone(), Clock::fake(NOON), options);
    stats.record(call("a.b", 1));
    stats.saw_session("one", None);
    stats.flush().await;
    let error = stats.report(Period::All, None).await.unwrap_err().to_string();
    assert!(error.starts_with("Error: Statistics are disabled. "), "{error}");
    let enabled = Stats::new(store, Clock::fake(NOON), StatsOptions::default());
    assert_eq!(all(&enabled).await.total_calls, 0, "nothing was recorded");
}

#[test]
fn ot_6_7_an_invalid_period_names_the_valid_ones() {
    let error = Period::parse("invalid").unwrap_err().to_string();
    let expected =
        "Error: Invalid period 'invalid'. Valid: day, week, month, all. Example: ot.stats(period='day')";
    assert_eq!(error, expected);
    let valid = ["day", "week", "month", "all"].map(|name| Period::parse(name).unwrap());
    assert_eq!(valid, [Period::Day, Period::Week, Period::Month, Period::All]);
}

#[tokio::test]
async fn ten_thousand_events_are_all_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::at(folder.path().join("onetool.db")));
    let stats = Stats::new(store.clone(), Clock::fake(NOON), StatsOptions::default());
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let stats = stats.clone();
            tokio::spawn(async move {
                for number in 0..2500 {
                    stats.record(call(&format!("pack{writer}.tool{}", number % 10), 4));
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let report = all(&stats).await;
    assert_eq!((report.total_calls, report.tools.len(), report.packs.len()), (10_000, 40, 4));
    assert_eq!((report.dropped, store.health().problem), (0, None));
}

#[tokio::test]
async fn events_are_written_by_themselves_within_moments() {
    let (stats, _) = stats();
    stats.record(call("a.b", 1));
    let written = async {
        while stats.0.store.event_sums(None, None).await.unwrap().tools.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), written).await.unwrap();
}

#[tokio::test]
async fn what_was_recorded_outside_a_runtime_or_before_the_end_is_kept() {
    let (stats, clock) = stats();
    let store = stats.0.store.clone();
    std::thread::spawn(move || stats.record(call("a.b", 1))).join().unwrap();
    let again = Stats::new(store, clock, StatsOptions::default());
    assert_eq!(all(&again).await.total_calls, 1);
}

#[tokio::test]
async fn too_many_events_are_dropped_and_counted() {
    let (stats, _) = stats();
    for _ in 0..65_536 {
        stats.0.account.admit();
    }
    stats.record(call("a.b", 1));
    stats.record(call("a.b", 1));
    let report = all(&stats).await;
    assert_eq!((report.total_calls, report.dropped), (0, 2));
    assert!(html(&report, "t").contains("2 events came too fast"));
}

#[tokio::test]
async fn r8_statistics_that_cannot_be_written_harm_nobody() {
    let store = Arc::new(SqliteStore::at("/proc/self/task/onetool.db"));
    let stats = Stats::new(store.clone(), Clock::fake(NOON), StatsOptions::default());
    stats.record(call("a.b", 1));
    assert_eq!(all(&stats).await.total_calls, 1);
    assert!(store.health().problem.is_some());
}

#[tokio::test]
async fn l2_session_keys_are_not_written_and_names_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::at(folder.path().join("onetool.db")));
    let stats = Stats::new(store.clone(), Clock::fake(NOON), StatsOptions::default());
    stats.saw_session("canary-4711", Some(&"é".repeat(10_000)));
    stats.record(call(&"t".repeat(10_000), 1));
    stats.flush().await;
    assert_eq!(all(&stats).await.tools[0].tool.len(), 512);
    store.close().await.unwrap();
    let bytes = fs::read(folder.path().join("onetool.db")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("canary"));
    assert!(text.contains(&"é".repeat(200)) && !text.contains(&"é".repeat(201)));
}

#[tokio::test]
async fn the_page_has_cards_with_parts_a_chart_and_tables() {
    let (stats, clock) = stats();
    stats.set_definition_tokens(1_234_567, 500);
    stats.saw_session("one", None);
    run(&stats, &["brave.search", "web.fetch"], 40, 360);
    clock.advance(DAY * 2);
    stats.record(failed("brave.search"));
    let page = html(&all(&stats).await, "Statistics");
    assert!(page.starts_with("<!doctype html>\n"));
    for part in [
        "1,234,567",
        "Definitions kept out",
        "Inner results kept in",
        "Own tools and answers",
        "Cost of a turn",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("Calls by day from 2026-07-28 to 2026-07-30, at most 2 a day"));
    assert_eq!(page.matches("<rect").count(), 2, "one bar a day, none for the quiet one");
    assert!(page.contains("<th scope=\"row\"><bdi>2026-07-29</bdi></th><td>0</td><td>–</td><td>0</td>"));
    assert!(page.contains("<th scope=\"row\"><bdi>brave</bdi></th><td>1</td><td>2</td><td>50 %</td>"));
    assert!(page.contains("<th scope=\"row\"><bdi>web.fetch</bdi></th><td>1</td><td>100 %</td>"));
    assert_page_is_well_formed(&page);
}

#[tokio::test]
async fn the_page_shows_a_dash_where_nothing_was_called() {
    let page = html(&all(&stats().0).await, "Statistics");
    assert!(page.contains("<h2>Success rate</h2><p class=\"figure\">–</p>"));
    assert!(page.contains("<h2>Context saved</h2><p class=\"figure\">–</p>"));
    assert!(page.contains("No calls in this period."));
    assert!(!page.contains("NaN") && !page.contains("<svg"));
    assert_page_is_well_formed(&page);
}

#[tokio::test]
async fn the_page_escapes_hostile_names() {
    let (stats, _) = stats();
    let hostile = [
        "<script>alert(1)</script>.x",
        "\"><img/src=x/onerror=alert(1)>.x",
        "'onmouseover='alert(1).x",
        "</title></style><svg/onload=alert(1)>.x",
        "&lt;b&gt;.x",
        "a\u{0}b\u{1b}[31m.x",
    ];
    for tool in hostile {
        stats.record(call(tool, 1));
        let report = stats.report(Period::All, Some(tool)).await.unwrap();
        assert_page_is_well_formed(&html(&report, tool));
    }
    let page = html(&all(&stats).await, "</title><script>alert(2)</script>");
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("onerror=alert(1)>"));
    assert!(!page.contains('\u{0}') && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;.x"));
    assert!(page.contains("&amp;lt;b&amp;gt;.x"));
    assert_page_is_well_formed(&page);
}

/// Only the tags that the page itself has, each closed in order, and nothing fetched.
fn assert_page_is_well_formed(page: &str) {
    const VOID: [&str; 4] = ["meta", "rect", "line", "!doctype"];
    let known = "html head meta title style body main h1 h2 p bdi div section dl dt dd figure svg text rect line \
                 figcaption span table thead tbody tr th td !doctype";
    let mut open = Vec::new();
    for piece in page.split('<').skip(1).filter(|piece| !piece.starts_with("!--")) {
        let (tag, _) = piece.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(known.split(' ').any(|it| it == name), "<{tag}>");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
}

#[test]
fn the_page_can_be_read_by_everybody() {
    let (light, dark) = html::LOOK.split_once("[data-theme=\"dark\"]").unwrap();
    for theme in [light, dark] {
        let colour = |name: &str| {
            let (_, rest) = theme.split_once(&format!("--{name}: ")).unwrap();
            rest.split_once(';').unwrap().0
        };
        for below in ["bg", "surface", "sunken"] {
            for above in ["text", "muted", "accent-text"] {
                let contrast = contrast(colour(above), colour(below));
                assert!(contrast >= 4.5, "{above} on {below}: {contrast}");
            }
        }
        for bar in ["accent", "bad"] {
            assert!(contrast(colour(bar), colour("surface")) >= 3.0, "{bar}");
        }
    }
}

/// The contrast of two colors as WCAG 2 counts it.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}
