// @ts-check
// Stored results.

import { html } from "../preact-htm.js";
import { agoOf, bytesOf, durationOf, numberOf } from "../lib/format.js";
import { link } from "../lib/route.js";
import { api } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { useRequest } from "../lib/use-request.js";
import { Empty } from "../widgets/empty.js";
import { Loading } from "../widgets/loading.js";
import { Problem } from "../widgets/problem.js";
import { ResultReader } from "../widgets/result-reader.js";

/** @import { StoredInfo } from "../types.js" */

/**
 * Describes how long a result is available.
 * @param {StoredInfo} info
 */
export const timeLeft = ({ expires_at: end }) =>
  end <= Date.now() ? "expired" : `for ${durationOf(end - Date.now())}`;

/**
 * Returns whether a result is data or text.
 * @param {StoredInfo} info
 */
export const resultKind = (info) => (info.is_json ? "data" : "text");

/**
 * Shows the stored results, or one of them.
 * @param {{ handle: string }} props
 */
export function ResultsView({ handle }) {
  const finished = useStore((state) => state.finished);
  /** @type {() => Promise<StoredInfo[]>} */
  const load = () => api("results");
  const { data, failure, reload } = useRequest(load, [finished, handle]);
  if (handle)
    return html`<${ResultReader} key=${handle} handle=${handle} info=${data?.find((info) => info.handle === handle)}
      />`;
  return html`<main class="page" id="main"><h1 tabindex="-1">Stored results</h1>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${
      data?.length === 0 &&
      html`<${Empty}
        title="No stored results">A result that is too large for an agent's context is stored here for a while, so that
        it can be read page by page.<//>`
    }
    ${
      data &&
      data.length > 0 &&
      html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Stored results">
          <table class="second-left"><thead><tr><th scope="col">Handle</th><th scope="col">Type</th>
                <th scope="col">Lines</th>
                <th scope="col">Size</th><th scope="col">Stored</th><th scope="col">Available</th></tr></thead>
            <tbody>${data.map(
              (info) => html`<tr key=${info.handle}><th scope="row"><a href=${link("results", info.handle)}>
                    ${info.handle}</a>
                </th><td>${resultKind(info)}</td><td>${numberOf(info.total_lines)}</td><td>
                  ${bytesOf(info.size_bytes)}</td><td>
                  ${agoOf(info.created_at)}</td><td>${timeLeft(info)}</td></tr>`,
            )}</tbody></table></div></section>`
    }</main>`;
}
