// @ts-check
// The difference between the results of two calls.

import { html } from "../preact-htm.js";
import { diffLines } from "../lib/diff.js";
import { timeOf } from "../lib/format.js";
import { findCall } from "../lib/history.js";
import { stringify } from "../lib/json.js";
import { useRequest } from "../lib/use-request.js";
import { Loading } from "./loading.js";
import { Problem } from "./problem.js";

/** @import { ToolOutput } from "../types.js" */

/**
 * Returns an output as text, to compare it.
 * @param {ToolOutput} output
 */
const outputText = (output) => {
  const blocks = (output.content ?? []).map((block) => (block.type === "text" ? block.text : stringify(block, 2)));
  return output.structuredContent === undefined ? blocks.join("\n") : stringify(output.structuredContent, 2);
};

/**
 * Shows how the results of two calls differ.
 * @param {{ ids: string[], onClose: () => void }} props
 */
export function ResultDifference({ ids, onClose }) {
  const { data, failure } = useRequest(() => Promise.all(ids.map(findCall)), ids);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  const [older, newer] = [...data].sort((left, right) => left.at_ms - right.at_ms);
  const lines = diffLines(outputText(older.output), outputText(newer.output));
  const isSame = lines.every(({ sign }) => sign === " ");
  return html`<section class="diff" aria-label="Difference of two results"><div class="row"><h2>
        ${timeOf(older.at_ms)} → ${timeOf(newer.at_ms)}</h2><span class="grow"></span>
      <button type="button" class="quiet" onClick=${onClose}>Close</button></div>
    ${
      isSame
        ? html`<p class="muted">The two results are the same.</p>`
        : html`<pre class="text" tabindex="0">
          ${lines.map(
            ({ sign, text }, at) => html`<span key=${at} class=${{ "+": "added", "-": "removed", " ": "" }[sign]}>
              ${sign} ${text}</span>`,
          )}</pre>`
    }</section>`;
}
