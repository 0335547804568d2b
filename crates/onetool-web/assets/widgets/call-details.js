// @ts-check
// Arguments and result of a past call.

import { html } from "../preact-htm.js";
import { findCall } from "../lib/history.js";
import { stringify } from "../lib/json.js";
import { link } from "../lib/route.js";
import { withoutMasks } from "../lib/secrets.js";
import { useRequest } from "../lib/use-request.js";
import { Loading } from "./loading.js";
import { Output } from "./output.js";
import { Problem } from "./problem.js";

/** @import { CallRecord } from "../types.js" */

/**
 * Shows arguments and result of a call.
 * @param {{ id: string }} props
 */
export function CallDetails({ id }) {
  const { data, failure } = useRequest(() => findCall(id), [id]);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  return html`<div class="details"><h2>Arguments</h2>
    <pre class="text" tabindex="0">${stringify(data.arguments, 2)}</pre>
    <a class="button" href=${replayLink(data)}>Edit and run again</a>
    <h2>Result</h2><${Output} output=${data.output} /></div>`;
}

/**
 * Returns the address that opens a call again.
 * @param {CallRecord} call
 */
const replayLink = ({ tool, arguments: args }) =>
  tool === "run"
    ? link("run", undefined, { code: args.command })
    : link("tools", tool, { args: stringify(withoutMasks(args)) });
