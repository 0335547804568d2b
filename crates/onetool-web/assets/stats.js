// Figures of a period: calls, success, what was saved, and each tool.

import { html, useState } from "./preact-htm.js";
import { v1 } from "./api.js";
import { link, useStore } from "./store.js";
import { bytesOf, durationOf, Empty, Loading, numberOf, Problem, Segments, useAsked } from "./ui.js";

const PERIODS = [["day", "Day"], ["week", "Week"], ["month", "Month"], ["all", "All"]];
const COLUMNS = [
  ["tool", "Tool"],
  ["calls", "Calls"],
  ["success_rate", "Success"],
  ["avg_ms", "Average"],
  ["total_bytes", "Bytes"],
];

const percent = (rate) => (rate === undefined ? "–" : `${rate.toFixed(1)} %`);

export function StatsView() {
  const [period, setPeriod] = useState("month");
  const finished = useStore((state) => state.finished);
  const { data, failure, reload } = useAsked(() => v1("stats", { period }), [period, finished]);
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">Statistics</h1><span class="grow"></span><${Segments} label="Period" options=${PERIODS} value=${period} onChange=${setPeriod} /></div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data && html`<${Report} report=${data} />`}</main>`;
}

function Tile({ label, value, children }) {
  return html`<div class="tile"><h2>${label}</h2><p class="figure">${value}</p><p class="muted small">${children}</p></div>`;
}

function Report({ report }) {
  const { context_saved_parts: context, time_saved_parts: time } = report;
  return html`<div class="tiles">
      <${Tile} label="Calls" value=${numberOf(report.total_calls)}>${report.dropped ? `${numberOf(report.dropped)} were not counted` : "by agents, code and people"}<//>
      <${Tile} label="Success" value=${percent(report.success_rate)}>${report.total_calls ? "of all calls" : "nothing was called"}<//>
      <${Tile} label="Context saved" value=${report.total_calls ? `${numberOf(report.context_saved)}` : "–"}>tokens: ${numberOf(context.definitions_kept_out)} of definitions + ${numberOf(context.inner_results_kept_in)} of results − ${numberOf(context.own_cost)} of our own<//>
      <${Tile} label="Time saved" value=${report.total_calls ? durationOf(report.time_saved_ms) : "–"}>${numberOf(time.inner_calls_beyond_first)} turns of ${durationOf(time.turn_ms)}<//></div>
    ${report.per_day.length > 0 && html`<${Days} days=${report.per_day} />`}
    ${report.tools.length > 0 ? html`<${Tools} tools=${report.tools} />` : html`<${Empty} title="Nothing in this period">Calls are counted as soon as an agent makes one.<//>`}`;
}

/** A bar for each day, and the same as a table. */
function Days({ days }) {
  const [asTable, setAsTable] = useState(false);
  const highest = Math.max(...days.map(({ calls }) => calls), 1);
  const step = 720 / days.length;
  const width = Math.min(step * 0.7, 40);
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  return html`<section class="card chart"><div class="row"><h2>Calls a day</h2><span class="grow"></span><button type="button" class="quiet" aria-pressed=${asTable} onClick=${() => setAsTable(!asTable)}>As a table</button></div>
    ${asTable
      ? html`<div class="scroll" tabindex="0" role="region" aria-label="Calls a day"><table><thead><tr><th scope="col">Day</th><th scope="col">Calls</th><th scope="col">Failed</th></tr></thead><tbody>${days.map(({ day, calls, failed }) => html`<tr key=${day}><th scope="row">${day}</th><td>${numberOf(calls)}</td><td>${numberOf(failed)}</td></tr>`)}</tbody></table></div>`
      : html`<svg viewBox="0 0 720 160" role="img" aria-label=${`${numberOf(total)} calls from ${days[0].day} to ${days.at(-1).day}, at most ${highest} a day`}>
          <path class="axis" d="M0 140.5H720" />${days.map(({ day, calls, failed }, at) => {
            const x = at * step + (step - width) / 2;
            const height = (calls / highest) * 128;
            const bad = (failed / highest) * 128;
            return html`<g key=${day}><title>${day}: ${calls} calls, ${failed} failed</title><rect class="fine" x=${x} y=${140 - height} width=${width} height=${height - bad} rx="2" /><rect class="failed" x=${x} y=${140 - bad} width=${width} height=${bad} /></g>`;
          })}<text x="0" y="156">${days[0].day}</text><text x="720" y="156" text-anchor="end">${days.at(-1).day}</text></svg>
        <p class="legend muted small"><span class="key fine"></span>fine<span class="key failed"></span>failed</p>`}</section>`;
}

function Tools({ tools }) {
  const [[column, isDown], setOrder] = useState(["calls", true]);
  const sorted = [...tools].sort((left, right) => {
    const [a, b] = [left[column] ?? -1, right[column] ?? -1];
    const order = typeof a === "string" ? a.localeCompare(b) : a - b;
    return isDown ? -order : order;
  });
  return html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Calls of each tool"><table><thead><tr>${COLUMNS.map(([key, label]) => html`<th key=${key} scope="col" aria-sort=${column === key ? (isDown ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick=${() => setOrder([key, column === key ? !isDown : key !== "tool"])}>${label}<span aria-hidden="true">${column === key ? (isDown ? " ↓" : " ↑") : ""}</span></button></th>`)}</tr></thead>
    <tbody>${sorted.map((row) => html`<tr key=${row.tool}><th scope="row"><a href=${link("tools", row.tool)}>${row.tool}</a></th><td>${numberOf(row.calls)}</td><td>${percent(row.success_rate)}</td><td>${row.avg_ms === undefined ? "–" : durationOf(row.avg_ms)}</td><td>${bytesOf(row.total_bytes)}</td></tr>`)}</tbody></table></div></section>`;
}
