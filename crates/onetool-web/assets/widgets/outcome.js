// @ts-check
// The outcome of a call, with status and time.

import { html, useEffect, useState } from "../preact-htm.js";
import { saveFile } from "../lib/browser.js";
import { bytesOf, durationOf } from "../lib/format.js";
import { stringify, tryParse } from "../lib/json.js";
import { CopyButton } from "./copy-button.js";
import { Output } from "./output.js";
import { MAX_CHARACTERS, PlainText } from "./plain-text.js";
import { Segments } from "./segments.js";

/**
 * @import { Children } from "../preact-htm.js"
 * @import { CallOutcome } from "../types.js"
 */

/**
 * Shows a running clock.
 * @param {{ since: number }} props
 */
function Elapsed({ since }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="clock">${durationOf(performance.now() - since)}</span>`;
}

/**
 * Returns color and title of an outcome.
 * @param {CallOutcome} outcome
 */
const headline = ({ canceled, failure, output, status }) => {
  if (canceled) return ["plain", "Canceled"];
  if (!status) return ["bad", "No response"];
  if (output) return output.isError ? ["bad", "The tool returned an error"] : ["good", "Success"];
  return ["bad", failure?.status === 401 ? "Not authorized" : "Rejected"];
};

/**
 * Shows the outcome of a call: running, completed, rejected or lost.
 * @param {{ outcome?: CallOutcome, name?: string, empty: Children }} props
 */
export function Outcome({ outcome, name = "result", empty }) {
  const [view, setView] = useState("content");
  if (!outcome) return empty;
  if (outcome.since !== undefined)
    return html`<div class="running" role="status"><span class="pulse" aria-hidden="true">
      </span>Running <${Elapsed} since=${outcome.since} /></div>`;
  const [tone, title] = headline(outcome);
  const { output, text = "", status = 0, ms = 0, failure } = outcome;
  const trace = output?._meta?._trace_id;
  const body = output ? text : (failure?.message ?? "");
  return html`<div class="outcome">
    <div class=${`verdict ${tone}`}><strong>${title}</strong><span>${durationOf(ms)}</span>
      ${status > 0 && html`<span>HTTP ${status}</span>`}${text && html`<span>${bytesOf(text.length)}</span>`}
      ${trace && html`<span class="trace" title="Trace id">${trace}</span>`}</div>
    ${
      !output &&
      html`<p class="failure">${outcome.canceled ? "The request was closed, which stops the tool." : body}</p>`
    }
    ${
      output &&
      html`<div class="row tools">
        <${Segments} label="Show the result as" options=${[
          ["content", "Content"],
          ["raw", "Raw"],
        ]} value=${view} onChange=${setView} />
        <span class="grow"></span><${CopyButton} text=${text} />
        <button type="button" class="quiet"
          onClick=${() => saveFile(`${name}.json`, text, "application/json")}>Save</button></div>
      ${
        view === "raw"
          ? html`<${PlainText}
            text=${text.length <= MAX_CHARACTERS ? stringify(tryParse(text).value ?? text, 2) : text}
            name=${`${name}.json`} />`
          : html`<${Output} output=${output} />`
      }`
    }</div>`;
}
