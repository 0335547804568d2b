//! What the demo remembers: calls, stored results, servers, active tools.

use std::collections::BTreeSet;

use onetool_core::{JsonObject, ToolOutput};
use onetool_web::{
    ApiError, CallRecord, CallSummary, DayStats, Health, Period, ResultInfo, ResultPage, ResultQuery,
    ServerInfo, StatsReport, ToolStats,
};
use serde_json::{Value, json};

pub(crate) const DAY_MS: u64 = 24 * 3600 * 1000;
const TTL_MS: u64 = 3600 * 1000;
const KEEP: usize = 200;

/// Everything that changes.
pub(crate) struct State {
    pub(crate) token: Option<String>,
    pub(crate) active: BTreeSet<String>,
    pub(crate) servers: Vec<ServerInfo>,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) counted: Vec<Counted>,
    pub(crate) results: Vec<(ResultInfo, String)>,
    pub(crate) history: bool,
    pub(crate) next: u64,
}

/// One call as statistics see it.
pub(crate) struct Counted {
    pub(crate) tool: String,
    pub(crate) at_ms: u64,
    pub(crate) duration_ms: u64,
    pub(crate) is_error: bool,
    pub(crate) bytes: u64,
}

/// The time, from the one place that may look at the clock.
#[expect(clippy::disallowed_methods, reason = "a program, not a library")]
pub(crate) fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn servers(count: impl Fn(&str) -> usize) -> Vec<ServerInfo> {
    let server = |name: &str, transport: &str| ServerInfo {
        name: name.into(),
        transport: transport.into(),
        health: Health::Healthy,
        enabled: true,
        tool_count: count(name),
        reason: None,
        next_action: None,
        last_error: None,
        since_ms: now_ms(),
    };
    vec![server("github", "stdio"), server("docs", "http"), server("petstore", "openapi")]
}

impl State {
    /// Notes a call, its arguments masked.
    pub(crate) fn record(
        &mut self,
        surface: &str,
        tool: &str,
        args: &JsonObject,
        output: &ToolOutput,
        begun: u64,
    ) -> CallSummary {
        self.next += 1;
        let duration_ms = now_ms().saturating_sub(begun);
        let summary = CallSummary {
            id: format!("c{}", self.next),
            tool: tool.to_owned(),
            at_ms: begun,
            duration_ms,
            is_error: output.is_error,
            surface: surface.to_owned(),
            pinned: false,
        };
        let bytes = serde_json::to_string(output).map_or(0, |text| text.len() as u64);
        self.counted.push(Counted {
            tool: tool.to_owned(),
            at_ms: begun,
            duration_ms,
            is_error: output.is_error,
            bytes,
        });
        if self.history {
            let mut arguments = Value::Object(args.clone());
            mask(&mut arguments);
            let output = if bytes > 200_000 {
                ToolOutput::text(format!("{bytes} bytes, too large to keep"))
            } else {
                output.clone()
            };
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let output = without(output, &secrets(&Value::Object(args.clone())));
            self.calls.push(CallRecord { summary: summary.clone(), arguments, output });
            if self.calls.len() > KEEP
                && let Some(oldest) = self.calls.iter().position(|call| !call.summary.pinned)
            {
                self.calls.remove(oldest);
            }
        }
        summary
    }

    /// Stores a text that is too large to send and returns what is sent instead.
    pub(crate) fn store(&mut self, tool: &str, text: String) -> ToolOutput {
        self.next += 1;
        let handle = format!("res{:06}{}", self.next, tool.len());
        let preview: Vec<&str> = text.lines().take(10).collect();
        let info = ResultInfo {
            handle: handle.clone(),
            summary: format!("text from {tool}"),
            total_lines: text.lines().count(),
            size_bytes: text.len() as u64,
            created_ms: now_ms(),
            expires_ms: now_ms() + TTL_MS,
        };
        let answer = json!({
            "handle": handle,
            "total_lines": info.total_lines,
            "size_bytes": info.size_bytes,
            "summary": info.summary,
            "preview": preview,
            "query": format!("ot.result(handle='{handle}', offset=1, limit=100)"),
        });
        self.results.insert(0, (info, text));
        ToolOutput::structured(answer)
    }

    pub(crate) fn read(&self, query: &ResultQuery) -> Result<ResultPage, ApiError> {
        if query.offset < 1 {
            return Err(ApiError::Invalid(format!("offset must be >= 1 (1-indexed), got {}", query.offset)));
        }
        if query.limit < 1 {
            return Err(ApiError::Invalid(format!("limit must be >= 1, got {}", query.limit)));
        }
        let found = self.results.iter().find(|(info, _)| info.handle == query.handle);
        let Some((info, text)) = found else {
            return Err(ApiError::NotFound(format!("result not found: '{}'", query.handle)));
        };
        if info.expires_ms <= now_ms() {
            return Err(ApiError::Expired(format!(
                "result expired: '{}' is past its time to live; run the code again",
                query.handle
            )));
        }
        let lines: Vec<&str> = text.lines().collect();
        let found = match query.search.as_deref().filter(|it| !it.is_empty()) {
            None => lines.iter().enumerate().map(|(at, _)| (at, Vec::new())).collect(),
            Some(words) if query.fuzzy => similar(&lines, words),
            Some(pattern) => matching(&lines, pattern)?,
        };
        let is_search = query.search.as_deref().is_some_and(|it| !it.is_empty());
        let first = usize::try_from(query.offset - 1).unwrap_or(usize::MAX).min(found.len());
        let end = first.saturating_add(usize::try_from(query.limit).unwrap_or(usize::MAX)).min(found.len());
        let page = &found[first..end];
        Ok(ResultPage {
            lines: page.iter().map(|(at, _)| lines[*at].to_owned()).collect(),
            total_lines: lines.len(),
            returned: page.len(),
            offset: query.offset,
            has_more: end < found.len(),
            matches: is_search.then_some(found.len()),
            numbers: if is_search { page.iter().map(|(at, _)| at + 1).collect() } else { Vec::new() },
            marks: if is_search { page.iter().map(|(_, marks)| marks.clone()).collect() } else { Vec::new() },
        })
    }

    /// Adds up what was counted in a period.
    #[expect(clippy::cast_precision_loss, reason = "one decimal is kept")]
    pub(crate) fn stats(&self, period: Period, tool: Option<&str>) -> StatsReport {
        let days = match period {
            Period::Day => 1,
            Period::Week => 7,
            Period::Month => 30,
            Period::All => 10_000,
        };
        let since = now_ms().saturating_sub(days * DAY_MS);
        let calls: Vec<&Counted> = self
            .counted
            .iter()
            .filter(|it| it.at_ms >= since && tool.is_none_or(|tool| it.tool == tool))
            .collect();
        let rate = |calls: &[&Counted]| {
            let fine = calls.iter().filter(|it| !it.is_error).count();
            (!calls.is_empty()).then(|| (fine as f64 * 1000.0 / calls.len() as f64).round() / 10.0)
        };
        let mut tools: Vec<ToolStats> = Vec::new();
        for name in calls.iter().map(|it| &it.tool).collect::<BTreeSet<_>>() {
            let own: Vec<&Counted> = calls.iter().filter(|it| it.tool == *name).copied().collect();
            let total: u64 = own.iter().map(|it| it.duration_ms).sum();
            tools.push(ToolStats {
                tool: name.clone(),
                calls: own.len() as u64,
                success_rate: rate(&own),
                avg_ms: Some((total as f64 * 10.0 / own.len() as f64).round() / 10.0),
                total_bytes: own.iter().map(|it| it.bytes).sum(),
            });
        }
        tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        let mut per_day: Vec<DayStats> = Vec::new();
        for number in calls.iter().map(|it| it.at_ms / DAY_MS).collect::<BTreeSet<_>>() {
            let own: Vec<_> = calls.iter().filter(|it| it.at_ms / DAY_MS == number).collect();
            let failed = own.iter().filter(|it| it.is_error).count() as u64;
            per_day.push(DayStats { day: date(number), calls: own.len() as u64, failed });
        }
        let kept: u64 = calls.iter().map(|it| it.bytes / 4).sum();
        let (definitions, own) = (calls.len() as u64 * 90, calls.len() as u64 * 25);
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let parts = onetool_web::ContextParts {
            definitions_kept_out: signed(definitions),
            inner_results_kept_in: signed(kept),
            own_cost: signed(own),
        };
        let beyond = calls.len() as u64 / 3;
        StatsReport {
            period,
            total_calls: calls.len() as u64,
            success_rate: rate(&calls),
            context_saved: parts.definitions_kept_out + parts.inner_results_kept_in - parts.own_cost,
            context_saved_parts: parts,
            time_saved_ms: beyond * 4000,
            time_saved_parts: onetool_web::TimeParts { inner_calls_beyond_first: beyond, turn_ms: 4000 },
            tools,
            per_day,
            dropped: 0,
        }
    }
}

/// Puts calls into the past, so that there is something to see.
pub(crate) fn past(names: &[String]) -> Vec<Counted> {
    let mut seed = 7_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let mut calls = Vec::new();
    for day in 0..28 {
        for _ in 0..12 + random() % 40 {
            let tool = names[usize::try_from(random() % 6).unwrap_or(0).min(names.len() - 1)].clone();
            calls.push(Counted {
                tool,
                at_ms: now_ms().saturating_sub(day * DAY_MS + random() % DAY_MS),
                duration_ms: 20 + random() % 900,
                is_error: random().is_multiple_of(17),
                bytes: 400 + random() % 9000,
            });
        }
    }
    calls
}

fn is_secret(key: &str) -> bool {
    ["secret", "token", "password", "api_key"].iter().any(|word| key.to_lowercase().contains(word))
}

fn secrets(value: &Value) -> Vec<String> {
    let parts = value.as_object().into_iter().flatten();
    parts
        .flat_map(|(key, value)| match value.as_str() {
            Some(text) if is_secret(key) && !text.is_empty() => vec![text.to_owned()],
            _ => secrets(value),
        })
        .collect()
}

/// A tool may give a secret back; what is remembered of it does not.
fn without(output: ToolOutput, secrets: &[String]) -> ToolOutput {
    let text = serde_json::to_string(&output).unwrap_or_default();
    let masked = secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), "••••••"));
    serde_json::from_str(&masked).unwrap_or(output)
}

fn mask(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    for (key, value) in object {
        if is_secret(key) { *value = json!("••••••") } else { mask(value) }
    }
}

type Found = Vec<(usize, Vec<(usize, usize)>)>;

fn matching(lines: &[&str], pattern: &str) -> Result<Found, ApiError> {
    let pattern = regex::Regex::new(pattern)
        .map_err(|error| ApiError::Invalid(format!("search is no valid regular expression: {error}")))?;
    let units = |line: &str, at: usize| line[..at].encode_utf16().count();
    let found = lines.iter().enumerate().filter(|(_, line)| pattern.is_match(line)).map(|(at, line)| {
        (at, pattern.find_iter(line).map(|it| (units(line, it.start()), units(line, it.end()))).collect())
    });
    Ok(found.collect())
}

fn similar(lines: &[&str], words: &str) -> Found {
    let words = words.to_lowercase();
    let likeness = |line: &str| {
        line.split_whitespace()
            .map(|word| strsim::jaro_winkler(&word.to_lowercase(), &words))
            .fold(0.0, f64::max)
    };
    let mut scored: Vec<(f64, usize)> =
        lines.iter().enumerate().map(|(at, line)| (likeness(line), at)).collect();
    scored.retain(|(score, _)| *score > 0.8);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|(_, at)| (at, Vec::new())).collect()
}

/// Writes a day that is counted from 1970 as `2026-07-28`.
fn date(day: u64) -> String {
    let z = day + 719_468;
    let (era, of_era) = (z / 146_097, z % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{of_month:02}", year + era * 400 + u64::from(month <= 2))
}
