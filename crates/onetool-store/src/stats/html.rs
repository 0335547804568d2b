//! The report as one HTML page: no script, nothing fetched, all text escaped.

use std::fmt::{self, Write as _};

use super::report::{DayStats, PackStats, Period, StatsReport, ToolStats};
use onetool_core::clock::Day;

/// How every report begins, so that it can be distinguished from other files.
pub const START: &str = "<!doctype html>\n<!-- onetool statistics -->\n";

/// What is shown if there is nothing to average.
const NOTHING: &str = "–";
/// How many days the chart shows at most, the last ones.
const CHART_DAYS: i64 = 92;
const CHART_WIDTH: f64 = 720.0;
const CHART_HEIGHT: f64 = 160.0;
const CHART_TOP: f64 = 20.0;
const BAR_WIDTH: f64 = 36.0;

/// The look that the report shares with the page; the file is a link into the page's own files.
pub(super) const LOOK: &str = include_str!("look.css");
/// The beginning of the colors of the dark theme in it.
const DARK: &str = "[data-theme=\"dark\"] {";

/// What only the report has: it is one column, and its charts are next to their tables.
const STYLE: &str = "
main{max-width:1080px;margin:0 auto;padding:28px 24px 60px;display:flex;flex-direction:column;gap:18px}
.tile dl{grid-template-columns:1fr auto;margin-top:6px}.tile dd{text-align:right;font-variant-numeric:tabular-nums}
.card{min-width:0}.pair{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}
.chart text{font-size:12px}.pair>figure{flex:3 1 380px}.pair>.scroll{flex:1 1 250px;max-height:340px}
tbody th,tbody td:first-child{white-space:normal;overflow-wrap:anywhere}
";

/// Returns the look without a script to choose the theme: the reader's system does.
fn look() -> String {
    let Some((before, rest)) = LOOK.split_once(DARK) else { return LOOK.to_owned() };
    let (dark, after) = rest.split_once('}').unwrap_or((rest, ""));
    format!("{before}@media (prefers-color-scheme: dark) {{ :root {{{dark}}} }}{after}")
}

/// Returns the report as a separate page.
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
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\n<style>{}{STYLE}</style></head>\n<body><main>\
         <div><h1><bdi>{title}</bdi></h1>\n<p class=\"muted\">{}",
        look(),
        period(report.period)
    )?;
    if let Some(tool) = &report.tool {
        write!(page, ", only <bdi>{}</bdi>", Escaped(tool))?;
    }
    page.push_str(". Days are in UTC; a token is taken as four bytes.</p></div>\n");
    if report.dropped > 0 {
        let dropped = grouped(report.dropped);
        writeln!(page, "<p>{dropped} events came too fast to be written and are missing here.</p>")?;
    }
    write_cards(page, report)?;
    write_days(page, report)?;
    page.push_str("<section class=\"card\"><h2>Packs</h2>\n");
    write_table(page, "Calls by pack", &["Pack", "Tools", "Calls", "Success", "Average", "Data"], || {
        report.packs.iter().map(pack_row)
    })?;
    page.push_str("</section>\n<section class=\"card\"><h2>Tools</h2>\n");
    write_table(page, "Calls by tool", &["Tool", "Calls", "Success", "Average", "Data"], || {
        report.tools.iter().map(tool_row)
    })?;
    page.push_str("</section></main></body></html>\n");
    Ok(())
}

fn write_cards(page: &mut String, report: &StatsReport) -> fmt::Result {
    let context = &report.context_saved_parts;
    let time = &report.time_saved_parts;
    let nothing_happened = report.total_calls == 0 && report.runs.runs == 0;
    let if_any = |is_zero: bool, text: String| {
        if nothing_happened && is_zero { NOTHING.to_owned() } else { text }
    };
    page.push_str("<div class=\"tiles\">\n");
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
    write!(page, "<section class=\"tile\"><h2>{name}</h2><p class=\"figure\">{figure}</p>")?;
    if !note.is_empty() {
        write!(page, "<p class=\"small\">{note}</p>")?;
    }
    page.push_str("<dl>");
    for (part, value) in parts {
        write!(page, "<dt>{part}</dt><dd>{value}</dd>")?;
    }
    page.push_str("</dl></section>\n");
    Ok(())
}

fn write_days(page: &mut String, report: &StatsReport) -> fmt::Result {
    page.push_str("<section class=\"card chart\"><h2>Calls a day</h2>\n");
    let days = with_quiet_days(&report.per_day);
    if days.is_empty() {
        page.push_str("<p class=\"muted\">No calls in this period.</p></section>\n");
        return Ok(());
    }
    page.push_str("<div class=\"pair\">\n");
    write_chart(page, &days)?;
    write_table(page, "Calls by day", &["Day", "Calls", "Failed", "Runs"], || {
        days.iter().rev().map(day_row)
    })?;
    page.push_str("</div></section>\n");
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
        bar("fine", bottom - whole + failed, whole - failed)?;
    }
    write!(
        page,
        "<line class=\"axis\" x1=\"0\" y1=\"{bottom}\" x2=\"{CHART_WIDTH}\" y2=\"{bottom}\"/>\
         <text x=\"0\" y=\"{0}\">{1}</text><text x=\"{CHART_WIDTH}\" y=\"{0}\" text-anchor=\"end\">{2}</text></svg>\n\
         <figcaption class=\"legend muted small\"><span class=\"key\"></span>fine (below)\
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
