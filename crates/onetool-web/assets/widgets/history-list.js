// @ts-check
// The calls of one tool, or of all tools.

import { html, useState } from "../preact-htm.js";
import { agoOf, durationOf, timeOf } from "../lib/format.js";
import { listCalls, togglePin } from "../lib/history.js";
import { useStore } from "../lib/store.js";
import { useRequest } from "../lib/use-request.js";
import { CallDetails } from "./call-details.js";
import { Empty } from "./empty.js";
import { Loading } from "./loading.js";
import { Problem } from "./problem.js";
import { ResultDifference } from "./result-difference.js";

/** @import { StateHook } from "../preact-htm.js" */

/**
 * Shows the calls of one tool, or of all tools.
 * @param {{ tool?: string }} props
 */
export function HistoryList({ tool }) {
  const finished = useStore((state) => state.finished);
  const calls = useStore((state) => state.calls);
  const { data, failure, reload } = useRequest(() => listCalls(tool), [tool, finished, calls]);
  /** @type {StateHook<string | undefined>} */
  const [open, setOpen] = useState();
  const [marked, setMarked] = useState(/** @type {string[]} */ ([]));
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  if (!data) return html`<${Loading} />`;
  if (!data.length)
    return html`<${Empty} title="No calls yet">Every call from now on is listed here, with its arguments and its
      result.<//>`;
  /** @param {string} id */
  const mark = (id) => setMarked(marked.includes(id) ? marked.filter((it) => it !== id) : [...marked, id].slice(-2));
  const sorted = [...data].sort((left, right) => Number(right.pinned) - Number(left.pinned));
  return html`${marked.length === 2 && html`<${ResultDifference} ids=${marked} onClose=${() => setMarked([])} />`}
  <ul class="calls">${sorted.map(
    (call) => html`<li key=${call.id}>
      <div class="call"><button type="button" class="link" aria-expanded=${open === call.id}
          onClick=${() => setOpen(open === call.id ? undefined : call.id)}>
          <span class=${`state ${call.is_error ? "bad" : "good"}`}>${call.is_error ? "failed" : "ok"}</span>${
            !tool && html`<code>${call.tool}</code>`
          }<span title=${timeOf(call.at_ms)}>${agoOf(call.at_ms)}</span><span class="muted">
            ${durationOf(call.duration_ms)}</span><span class="muted">${call.surface}</span></button>
        <label class="check">
          <input type="checkbox" aria-label=${`Compare the call of ${timeOf(call.at_ms)}`}
            checked=${marked.includes(call.id)}
            onChange=${() => mark(call.id)} />compare</label>
        <button type="button" class="quiet" aria-pressed=${call.pinned} onClick=${async () => {
          await togglePin(call);
          reload();
        }}>
          ${call.pinned ? "Pinned" : "Pin"}</button></div>
      ${open === call.id && html`<${CallDetails} id=${call.id} />`}</li>`,
  )}</ul>`;
}
