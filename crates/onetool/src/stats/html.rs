//! The report as one HTML page: no script, nothing fetched, all text escaped.

use std::fmt::{self, Write as _};

use super::report::{DayStats, PackStats, Period, StatsReport, ToolStats};
use crate::clock::Day;

/// How every report begins, so that it can be told from other files.
pub(super) const START: &str = "<!doctype html>\n<!-- onetool statistics -->\n";

/// What stands where there is nothing to average.
const NOTHING: &str = "–";
/// How many days the chart shows at most, the last ones.
const CHART_DAYS: i64 = 92;
const CHART_WIDTH: f64 = 720.0;
const CHART_HEIGHT: f64 = 160.0;
const CHART_TOP: f64 = 20.0;
const BAR_WIDTH: f64 = 36.0;

/// Colours of the page; what is read stands out from its ground by 4.5 to 1, what is seen by 3 to 1.
pub(super) struct Palette {
    pub(super) ground: &'static str,
    pub(super) card: &'static str,
    pub(super) line: &'static str,
    pub(super) text: &'static str,
    pub(super) quiet: &'static str,
    pub(super) succeeded: &'static str,
    pub(super) failed: &'static str,
}

pub(super) const LIGHT: Palette = Palette {
    ground: "#ffffff",
    card: "#f3f4f6",
    line: "#d0d5db",
    text: "#1a1d21",
    quiet: "#505a66",
    succeeded: "#1f6feb",
    failed: "#b42318",
};

pub(super) const DARK: Palette = Palette {
    ground: "#14171a",
    card: "#1f2428",
    line: "#3d444c",
    text: "#e8eaed",
    quiet: "#aab3bd",
    succeeded: "#6ea8fe",
    failed: "#ff8a80",
};

const STYLE: &str = "
body{margin:0 auto;max-width:72rem;padding:1.5rem;background:var(--ground);color:var(--text);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .75rem}
p{margin:.25rem 0}.quiet{color:var(--quiet)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:1rem;margin-top:1.5rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem}
.card h2{margin:0;font-size:1rem;font-weight:600}.figure{font-size:1.75rem;font-weight:600;margin:.25rem 0}
dl{display:grid;grid-template-columns:1fr auto;gap:.15rem 1rem;margin:.5rem 0 0;font-size:.875rem}
dt{color:var(--quiet)}dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
.beside{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}
.beside>figure{flex:3 1 24rem;margin:0}.beside>.scroll{flex:1 1 16rem;max-height:22rem;overflow:auto}
svg{width:100%;height:auto;display:block}svg text{fill:var(--quiet);font-size:12px}
.succeeded{fill:var(--succeeded)}.failed{fill:var(--failed)}.axis{stroke:var(--quiet)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;
font-variant-numeric:tabular-nums;white-space:nowrap}
th{color:var(--quiet);font-weight:600}
th:first-child,td:first-child,tbody th{text-align:left;white-space:normal;overflow-wrap:anywhere}
tbody th{color:var(--text);font-weight:400}
.key{display:inline-block;width:.75rem;height:.75rem;margin:0 .35rem 0 .75rem;border-radius:2px}
.key.succeeded{background:var(--succeeded)}.key.failed{background:var(--failed)}
";

/// Returns the report as a page of its own.
pub fn html(report: &StatsReport, title: &str) -> String {
    let mut page = String::with_capacity(16 * 1024);
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, report, title);
    page
}

fn write_page(page: &mut String, report: &StatsReport, title: &str) -> fmt::Result {
    let title = Escaped(title);
    write!(
        page,
        "{START}<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\n<style>:root{{{LIGHT}}}\
         @media (prefers-color-scheme:dark){{:root{{{DARK}}}}}{STYLE}</style></head>\n<body><main>\
         <h1><bdi>{title}</bdi></h1>\n<p class=\"quiet\">{}",
        period(report.period)
    )?;
    if let Some(tool) = &report.tool {
        write!(page, ", only <bdi>{}</bdi>", Escaped(tool))?;
    }
    page.push_str(". Days are in UTC; a token is taken as four bytes.</p>\n");
    if report.dropped > 0 {
        let dropped = grouped(report.dropped);
        writeln!(page, "<p>{dropped} events came too fast to be written and are missing here.</p>")?;
    }
    write_cards(page, report)?;
    write_days(page, report)?;
    page.push_str("<h2>Packs</h2>\n");
    write_table(page, "Calls by pack", &["Pack", "Tools", "Calls", "Success", "Average", "Data"], || {
        report.packs.iter().map(pack_row)
    })?;
    page.push_str("<h2>Tools</h2>\n");
    write_table(page, "Calls by tool", &["Tool", "Calls", "Success", "Average", "Data"], || {
        report.tools.iter().map(tool_row)
    })?;
    page.push_str("</main></body></html>\n");
    Ok(())
}

fn write_cards(page: &mut String, report: &StatsReport) -> fmt::Result {
    let context = &report.context_saved_parts;
    let time = &report.time_saved_parts;
    let nothing_happened = report.total_calls == 0 && report.runs.runs == 0;
    let if_any = |is_zero: bool, text: String| {
        if nothing_happened && is_zero { NOTHING.to_owned() } else { text }
    };
    page.push_str("<div class=\"cards\">\n");
    write_card(
        page,
        "Calls",
        &grouped(report.total_calls),
        "",
        &[
            ("Runs of code", grouped(report.runs.runs)),
            ("Sessions", grouped(report.sessions)),
            ("Average run", average(report.runs.avg_ms)),
        ],
    )?;
    write_card(
        page,
        "Success rate",
        &percent(report.success_rate),
        "",
        &[("Of runs", percent(report.runs.success_rate))],
    )?;
    let note = if report.context_saved < 0 { "Negative: more was spent than saved." } else { "" };
    let saved = format!("{} tokens", signed(report.context_saved));
    write_card(
        page,
        "Context saved",
        &if_any(report.context_saved == 0, saved),
        note,
        &[
            ("Definitions kept out", signed(context.definitions_kept_out)),
            ("Inner results kept in", signed(context.inner_results_kept_in)),
            ("Own tools and answers", signed(-context.own_cost)),
        ],
    )?;
    let saved = duration(report.time_saved_ms);
    write_card(
        page,
        "Time saved",
        &if_any(report.time_saved_ms == 0, saved),
        "",
        &[
            ("Inner calls beyond the first", grouped(time.inner_calls_beyond_first)),
            ("Cost of a turn", format!("{} ms", grouped(time.turn_ms))),
        ],
    )?;
    page.push_str("</div>\n");
    Ok(())
}

fn write_card(
    page: &mut String,
    name: &str,
    figure: &str,
    note: &str,
    parts: &[(&str, String)],
) -> fmt::Result {
    write!(page, "<section class=\"card\"><h2>{name}</h2><p class=\"figure\">{figure}</p>")?;
    if !note.is_empty() {
        write!(page, "<p>{note}</p>")?;
    }
    page.push_str("<dl>");
    for (part, value) in parts {
        write!(page, "<dt>{part}</dt><dd>{value}</dd>")?;
    }
    page.push_str("</dl></section>\n");
    Ok(())
}

fn write_days(page: &mut String, report: &StatsReport) -> fmt::Result {
    page.push_str("<h2>Days</h2>\n");
    let days = with_quiet_days(&report.per_day);
    if days.is_empty() {
        page.push_str("<p class=\"quiet\">No calls in this period.</p>\n");
        return Ok(());
    }
    page.push_str("<div class=\"beside\">\n");
    write_chart(page, &days)?;
    write_table(page, "Calls by day", &["Day", "Calls", "Failed", "Runs"], || {
        days.iter().rev().map(day_row)
    })?;
    page.push_str("</div>\n");
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "these are lengths on a screen")]
fn write_chart(page: &mut String, days: &[DayStats]) -> fmt::Result {
    let most = days.iter().map(|day| day.calls).max().unwrap_or(0).max(1);
    let slot = CHART_WIDTH / days.len() as f64;
    let width = (slot * 0.8).min(BAR_WIDTH);
    let bottom = CHART_TOP + CHART_HEIGHT;
    let (first, last) = (&days[0], &days[days.len() - 1]);
    writeln!(
        page,
        "<figure><svg viewBox=\"0 0 {CHART_WIDTH} {}\" role=\"img\" aria-labelledby=\"chart\">\
         <title id=\"chart\">Calls by day from {} to {}, at most {} a day</title>\
         <text x=\"0\" y=\"12\">{}</text>",
        bottom + 20.0,
        first.day,
        last.day,
        grouped(most),
        grouped(most),
    )?;
    for (index, day) in days.iter().enumerate() {
        let x = slot * index as f64 + (slot - width) / 2.0;
        let whole = CHART_HEIGHT * day.calls as f64 / most as f64;
        let failed = CHART_HEIGHT * day.failed as f64 / most as f64;
        let mut bar = |class: &str, top: f64, height: f64| {
            if height <= 0.0 {
                return Ok(());
            }
            write!(
                page,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            )
        };
        bar("failed", bottom - whole, failed)?;
        bar("succeeded", bottom - whole + failed, whole - failed)?;
    }
    write!(
        page,
        "<line class=\"axis\" x1=\"0\" y1=\"{bottom}\" x2=\"{CHART_WIDTH}\" y2=\"{bottom}\"/>\
         <text x=\"0\" y=\"{0}\">{1}</text><text x=\"{CHART_WIDTH}\" y=\"{0}\" text-anchor=\"end\">{2}</text></svg>\n\
         <figcaption class=\"quiet\"><span class=\"key succeeded\"></span>succeeded (below)\
         <span class=\"key failed\"></span>failed (above)</figcaption></figure>\n",
        bottom + 16.0,
        first.day,
        last.day,
    )
}

/// Returns the last days in one row, those without calls included.
fn with_quiet_days(days: &[DayStats]) -> Vec<DayStats> {
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Vec::new() };
    let last = last.day.number();
    let first = first.day.number().max(last.saturating_sub(CHART_DAYS - 1));
    (first..=last)
        .map(Day::from_number)
        .map(|day| match days.binary_search_by_key(&day, |it| it.day) {
            Ok(found) => days[found],
            Err(_) => DayStats { day, calls: 0, failed: 0, runs: 0 },
        })
        .collect()
}

fn write_table<I: Iterator<Item = (String, Vec<String>)>>(
    page: &mut String,
    caption: &str,
    columns: &[&str],
    rows: impl FnOnce() -> I,
) -> fmt::Result {
    write!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><thead><tr>"
    )?;
    for column in columns {
        write!(page, "<th scope=\"col\">{column}</th>")?;
    }
    page.push_str("</tr></thead><tbody>\n");
    let mut is_empty = true;
    for (name, cells) in rows() {
        is_empty = false;
        write!(page, "<tr><th scope=\"row\"><bdi>{}</bdi></th>", Escaped(&name))?;
        for cell in cells {
            write!(page, "<td>{}</td>", Escaped(&cell))?;
        }
        page.push_str("</tr>\n");
    }
    if is_empty {
        writeln!(page, "<tr><td colspan=\"{}\">{NOTHING}</td></tr>", columns.len())?;
    }
    page.push_str("</tbody></table></div>\n");
    Ok(())
}

fn pack_row(pack: &PackStats) -> (String, Vec<String>) {
    let cells = vec![
        grouped(pack.tools),
        grouped(pack.calls),
        percent(pack.success_rate),
        average(pack.avg_ms),
        size(pack.total_bytes),
    ];
    (pack.pack.clone(), cells)
}

fn tool_row(tool: &ToolStats) -> (String, Vec<String>) {
    let cells =
        vec![grouped(tool.calls), percent(tool.success_rate), average(tool.avg_ms), size(tool.total_bytes)];
    (tool.tool.clone(), cells)
}

fn day_row(day: &DayStats) -> (String, Vec<String>) {
    let failed = if day.calls == 0 { NOTHING.into() } else { grouped(day.failed) };
    (day.day.to_string(), vec![grouped(day.calls), failed, grouped(day.runs)])
}

fn period(period: Period) -> &'static str {
    match period {
        Period::Day => "The last 24 hours",
        Period::Week => "The last 7 days",
        Period::Month => "The last 30 days",
        Period::All => "All time",
    }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| NOTHING.into(), |rate| format!("{rate} %"))
}

fn average(ms: Option<f64>) -> String {
    ms.map_or_else(|| NOTHING.into(), |ms| format!("{ms:.1} ms"))
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        60_000..3_600_000 => format!("{:.1} min", ms as f64 / 6e4),
        _ => format!("{:.1} h", ms as f64 / 3.6e6),
    }
}

fn signed(number: i64) -> String {
    format!("{}{}", if number < 0 { "−" } else { "" }, grouped(number.unsigned_abs()))
}

/// Writes a number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text that cannot become markup, in content or in a quoted attribute.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ if character.is_control() && character != '\n' => {
                    f.write_char(char::REPLACEMENT_CHARACTER)?;
                }
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Palette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ground, card, line, text, quiet, succeeded, failed } = self;
        write!(f, "--ground:{ground};--card:{card};--line:{line};--text:{text};--quiet:{quiet};")?;
        write!(f, "--succeeded:{succeeded};--failed:{failed}")
    }
}
