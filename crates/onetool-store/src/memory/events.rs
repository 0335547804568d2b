//! Events in memory, and their sums.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use onetool_core::clock::Timestamp;

use crate::events::{Event, MAX_AMOUNT, RunId};
use crate::store::{DaySum, EventSums, RunSum, SessionSum, ToolSum};

/// Maximum number of events; the oldest are deleted first.
const MAX_EVENTS: usize = 1_000_000;
/// Number of names from which on those that no event has are deleted.
const MANY_NAMES: usize = 10_000;

/// What happened, in the order in which it was recorded.
#[derive(Default)]
pub(super) struct Events {
    calls: VecDeque<Call>,
    runs: VecDeque<Run>,
    sessions: VecDeque<Session>,
    /// The names of tools, each once.
    names: HashSet<Arc<str>>,
}

struct Call {
    at: Timestamp,
    tool: Arc<str>,
    duration_us: u64,
    args_size: u64,
    output_size: u64,
    is_success: bool,
    run: Option<RunId>,
}

struct Run {
    id: RunId,
    at: Timestamp,
    duration_us: u64,
    code_size: u64,
    output_size: u64,
    inner_calls: u64,
    inner_bytes: u64,
    is_success: bool,
}

struct Session {
    at: Timestamp,
    kept_out: u64,
    own: u64,
}

impl Events {
    pub(super) fn add(&mut self, events: &[(Timestamp, Event)]) {
        for (at, event) in events {
            self.add_one(*at, event);
        }
    }

    fn add_one(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Call { tool, duration, args_size, output_size, outcome, in_run, .. } => {
                let call = Call {
                    at,
                    tool: self.name(tool.as_str()),
                    duration_us: bounded(duration.as_micros()),
                    args_size: bounded(*args_size),
                    output_size: bounded(*output_size),
                    is_success: outcome.is_success(),
                    run: *in_run,
                };
                push(&mut self.calls, call);
            }
            Event::Run {
                id, duration, code_size, output_size, inner_calls, inner_bytes, outcome, ..
            } => {
                let run = Run {
                    id: *id,
                    at,
                    duration_us: bounded(duration.as_micros()),
                    code_size: bounded(*code_size),
                    output_size: bounded(*output_size),
                    inner_calls: bounded(*inner_calls),
                    inner_bytes: bounded(*inner_bytes),
                    is_success: outcome.is_success(),
                };
                push(&mut self.runs, run);
            }
            Event::Session { kept_out, own, .. } => {
                push(&mut self.sessions, Session { at, kept_out: bounded(*kept_out), own: bounded(*own) });
            }
        }
    }

    fn name(&mut self, tool: &str) -> Arc<str> {
        if let Some(name) = self.names.get(tool) {
            return name.clone();
        }
        if self.names.len() >= MANY_NAMES {
            self.names.retain(|name| Arc::strong_count(name) > 1);
        }
        let name: Arc<str> = tool.into();
        self.names.insert(name.clone());
        name
    }

    pub(super) fn sums(&self, since: Option<Timestamp>, tool: Option<&str>) -> EventSums {
        let is_in = |at: Timestamp| since.is_none_or(|since| at >= since);
        let calls =
            || self.calls.iter().filter(|it| is_in(it.at) && tool.is_none_or(|tool| *it.tool == *tool));
        let runs = || self.runs.iter().filter(|it| is_in(it.at));
        let (run_sum, sessions) = match tool {
            None => (all_runs(runs()), sessions(self.sessions.iter().filter(|it| is_in(it.at)))),
            Some(_) => (runs_with(calls(), &self.runs), SessionSum::default()),
        };
        let days = days(calls(), runs().filter(|_| tool.is_none()));
        EventSums { tools: tools(calls()), days, runs: run_sum, sessions }
    }
}

fn tools<'a>(calls: impl Iterator<Item = &'a Call>) -> Vec<ToolSum> {
    let mut sums: HashMap<&str, ToolSum> = HashMap::new();
    for call in calls {
        let sum = sums.entry(&call.tool).or_default();
        let bytes = call.args_size + call.output_size;
        sum.calls += 1;
        sum.succeeded += u64::from(call.is_success);
        sum.duration_us += call.duration_us;
        sum.bytes += bytes;
        match call.run {
            Some(_) => sum.bytes_in_runs += call.output_size,
            None => sum.bytes_direct += bytes,
        }
    }
    let named = |(tool, sum): (&str, ToolSum)| ToolSum { tool: tool.to_owned(), ..sum };
    let mut sums: Vec<ToolSum> = sums.into_iter().map(named).collect();
    sums.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
    sums
}

fn days<'a>(calls: impl Iterator<Item = &'a Call>, runs: impl Iterator<Item = &'a Run>) -> Vec<DaySum> {
    let mut days: BTreeMap<i64, DaySum> = BTreeMap::new();
    for call in calls {
        let day = days.entry(call.at.day().number()).or_default();
        day.calls += 1;
        day.succeeded += u64::from(call.is_success);
    }
    for run in runs {
        days.entry(run.at.day().number()).or_default().runs += 1;
    }
    days.into_iter().map(|(day, sum)| DaySum { day, ..sum }).collect()
}

fn all_runs<'a>(runs: impl Iterator<Item = &'a Run>) -> RunSum {
    runs.fold(RunSum::default(), |sum, run| RunSum {
        runs: sum.runs + 1,
        succeeded: sum.succeeded + u64::from(run.is_success),
        duration_us: sum.duration_us + run.duration_us,
        bytes: sum.bytes + run.code_size + run.output_size,
        inner_bytes: sum.inner_bytes + run.inner_bytes,
        beyond_first: sum.beyond_first + run.inner_calls.saturating_sub(1),
    })
}

/// Adds up the runs that made some of these calls. What a run cost is shared evenly by all calls in it.
fn runs_with<'a>(calls: impl Iterator<Item = &'a Call>, runs: &VecDeque<Run>) -> RunSum {
    let mut by_run: HashMap<RunId, (u64, u64)> = HashMap::new();
    for call in calls {
        if let Some(run) = call.run {
            let (count, bytes) = by_run.entry(run).or_default();
            *count += 1;
            *bytes += call.output_size;
        }
    }
    let mut sum = RunSum::default();
    for run in runs {
        let Some((count, bytes)) = by_run.get(&run.id) else { continue };
        sum.runs += 1;
        sum.succeeded += u64::from(run.is_success);
        sum.duration_us += run.duration_us;
        sum.bytes += (run.code_size + run.output_size) * count / run.inner_calls.max(*count);
        sum.inner_bytes += bytes;
        sum.beyond_first += count - 1;
    }
    sum
}

fn sessions<'a>(sessions: impl Iterator<Item = &'a Session>) -> SessionSum {
    sessions.fold(SessionSum::default(), |sum, it| SessionSum {
        sessions: sum.sessions + 1,
        kept_out: sum.kept_out + it.kept_out,
        own: sum.own + it.own,
    })
}

fn bounded(amount: impl TryInto<u64>) -> u64 {
    amount.try_into().unwrap_or(u64::MAX).min(MAX_AMOUNT)
}

fn push<T>(events: &mut VecDeque<T>, event: T) {
    if events.len() >= MAX_EVENTS {
        events.pop_front();
    }
    events.push_back(event);
}
