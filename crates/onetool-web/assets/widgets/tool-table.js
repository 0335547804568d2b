// @ts-check
// Calls per tool, as a sortable table.

import { html, useState } from "../preact-htm.js";
import { bytesOf, durationOf, numberOf, percent } from "../lib/format.js";
import { link } from "../lib/route.js";

/** @import { ToolStats } from "../types.js" */

/** @type {[keyof ToolStats, string][]} */
const COLUMNS = [
  ["tool", "Tool"],
  ["calls", "Calls"],
  ["success_rate", "Success"],
  ["avg_ms", "Average"],
  ["total_bytes", "Bytes"],
];

/**
 * Shows the calls of each tool.
 * @param {{ tools: ToolStats[] }} props
 */
export function ToolTable({ tools }) {
  const [column, setColumn] = useState(/** @type {keyof ToolStats} */ ("calls"));
  const [isDown, setIsDown] = useState(true);
  /** @param {keyof ToolStats} key */
  const sortBy = (key) => {
    setColumn(key);
    setIsDown(column === key ? !isDown : key !== "tool");
  };
  const sorted = [...tools].sort((left, right) => {
    const [a, b] = [left[column] ?? -1, right[column] ?? -1];
    const order = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
    return isDown ? -order : order;
  });
  return html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Calls of each tool">
      <table><thead><tr>
            ${COLUMNS.map(
              ([key, label]) => html`<th key=${key} scope="col"
                aria-sort=${column === key ? (isDown ? "descending" : "ascending") : undefined}>
                <button type="button" class="sort"
                  onClick=${() => sortBy(key)}>
                  ${label}<span aria-hidden="true">
                    ${column === key ? (isDown ? " ↓" : " ↑") : ""}</span></button></th>`,
            )}</tr></thead>
        <tbody>${sorted.map(
          (row) => html`<tr key=${row.tool}><th scope="row"><a href=${link("tools", row.tool)}>${row.tool}</a></th><td>
              ${numberOf(row.calls)}</td><td>${percent(row.success_rate)}</td><td>
              ${row.avg_ms === undefined ? "–" : durationOf(row.avg_ms)}</td>
            <td>${bytesOf(row.total_bytes)}</td></tr>`,
        )}</tbody></table></div></section>`;
}
