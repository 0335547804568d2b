// @ts-check
// Statistics.

import { html, useState } from "../preact-htm.js";
import { durationOf, numberOf, percent } from "../lib/format.js";
import { api } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { useRequest } from "../lib/use-request.js";
import { DaysChart } from "../widgets/days-chart.js";
import { Empty } from "../widgets/empty.js";
import { Loading } from "../widgets/loading.js";
import { Problem } from "../widgets/problem.js";
import { Segments } from "../widgets/segments.js";
import { Tile } from "../widgets/tile.js";
import { ToolTable } from "../widgets/tool-table.js";

/** @import { Option, Stats } from "../types.js" */

/** @type {Option[]} */
const PERIODS = [
  ["day", "Day"],
  ["week", "Week"],
  ["month", "Month"],
  ["all", "All"],
];

/** Shows statistics for a period. */
export function StatsView() {
  const [period, setPeriod] = useState("month");
  const finished = useStore((state) => state.finished);
  /** @type {() => Promise<Stats>} */
  const load = () => api("stats", { period });
  const { data, failure, reload } = useRequest(load, [period, finished]);
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">Statistics</h1><span class="grow"></span>
      <${Segments} label="Period" options=${PERIODS} value=${period} onChange=${setPeriod} /></div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data && html`<${StatsReport} report=${data} />`}</main>`;
}

/**
 * Shows totals, days and tools.
 * @param {{ report: Stats }} props
 */
function StatsReport({ report }) {
  const { context_saved_parts: context, time_saved_parts: time } = report;
  const { total_calls: calls, dropped } = report;
  return html`<div class="tiles">
    <${Tile} label="Calls" value=${numberOf(calls)}>
      ${numberOf(report.runs.runs)} runs of code, ${numberOf(report.sessions)} sessions
      ${dropped ? `; ${numberOf(dropped)} were not counted` : ""}<//>
    <${Tile} label="Success" value=${percent(report.success_rate)}>${calls ? "of all calls" : "no calls"}<//>
    <${Tile} label="Context saved" value=${calls ? numberOf(report.context_saved) : "–"}>
      tokens: ${numberOf(context.definitions_kept_out)} of definitions + ${numberOf(context.inner_results_kept_in)} of
      results − ${numberOf(context.own_cost)} for onetool<//>
    <${Tile} label="Time saved" value=${calls ? durationOf(report.time_saved_ms) : "–"}>
      ${numberOf(time.inner_calls_beyond_first)} turns of ${durationOf(time.turn_ms)}<//></div>
  ${report.per_day.length > 0 && html`<${DaysChart} days=${report.per_day} />`}
  ${
    report.tools.length > 0
      ? html`<${ToolTable} tools=${report.tools} />`
      : html`<${Empty} title="Nothing in this period">Calls are counted as soon as an agent makes one.<//>`
  }`;
}
