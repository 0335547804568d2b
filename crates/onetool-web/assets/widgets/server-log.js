// @ts-check
// The log of a server.

import { html } from "../preact-htm.js";
import { api } from "../lib/server.js";
import { useRequest } from "../lib/use-request.js";
import { Problem } from "./problem.js";

/**
 * Shows the log of a server.
 * @param {{ name: string }} props
 */
export function ServerLog({ name }) {
  const { data, failure, reload } = useRequest(() => api(`servers/${encodeURIComponent(name)}/log`), [name]);
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  return html`<pre class="text" tabindex="0" role="group" aria-label="Log output">
    ${data?.lines.length ? data.lines.join("\n") : "The log is empty."}</pre>`;
}
