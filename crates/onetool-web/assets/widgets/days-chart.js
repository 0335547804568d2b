// @ts-check
// Calls per day, as a chart or a table.

import { html, useState } from "../preact-htm.js";
import { numberOf } from "../lib/format.js";

/** @import { Day } from "../types.js" */

/**
 * Shows a bar for each day, or the same numbers as a table.
 * @param {{ days: Day[] }} props
 */
export function DaysChart({ days }) {
  const [asTable, setAsTable] = useState(false);
  const highest = Math.max(...days.map(({ calls }) => calls), 1);
  const step = 720 / days.length;
  const width = Math.min(step * 0.7, 40);
  const [first, last] = [days[0].day, days[days.length - 1].day];
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  return html`<section class="card chart"><div class="row"><h2>Calls per day</h2><span class="grow"></span>
      <button type="button" class="quiet" aria-pressed=${asTable}
        onClick=${() => setAsTable(!asTable)}>As a table</button></div>
    ${
      asTable
        ? html`<div class="scroll" tabindex="0" role="region" aria-label="Calls per day"><table><thead><tr>
                <th scope="col">Day</th>
                <th scope="col">Calls</th><th scope="col">Failed</th></tr></thead><tbody>${days.map(
                  ({ day, calls, failed }) => html`<tr key=${day}>
                    <th scope="row">${day}</th><td>${numberOf(calls)}</td><td>${numberOf(failed)}</td></tr>`,
                )}</tbody></table></div>`
        : html`<svg viewBox="0 0 720 160" role="img"
          aria-label=${`${numberOf(total)} calls from ${first} to ${last}, at most ${highest} per day`}>
          <path class="axis" d="M0 140.5H720" />${days.map(({ day, calls, failed }, at) => {
            const x = at * step + (step - width) / 2;
            const height = (calls / highest) * 128;
            const bad = (failed / highest) * 128;
            return html`<g key=${day}><title>${day}: ${calls} calls, ${failed} failed</title>
              <rect class="fine" x=${x} y=${140 - height} width=${width} height=${height - bad} rx="2" />
              <rect class="failed" x=${x} y=${140 - bad} width=${width} height=${bad} /></g>`;
          })}<text x="0" y="156">${first}</text><text x="720" y="156" text-anchor="end">
            ${last}</text></svg>
        <p class="legend muted small"><span class="key fine"></span>succeeded<span class="key failed"></span>failed</p>`
    }</section>`;
}
