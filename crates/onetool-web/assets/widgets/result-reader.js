// @ts-check
// A stored result, page by page.

import { html, useEffect, useState } from "../preact-htm.js";
import { bytesOf, numberOf } from "../lib/format.js";
import { api } from "../lib/server.js";
import { useRequest } from "../lib/use-request.js";
import { resultKind, timeLeft } from "../views/results.js";
import { Problem } from "./problem.js";

/** @import { ResultPage, StoredInfo } from "../types.js" */

const PAGE_LINES = 100;

/**
 * Shows a stored result in pages, with search.
 * @param {{ handle: string, info?: StoredInfo }} props
 */
export function ResultReader({ handle, info }) {
  const [offset, setOffset] = useState(1);
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [fuzzy, setFuzzy] = useState(false);
  const query = { offset, limit: PAGE_LINES, search, fuzzy: fuzzy && search !== "" };
  /** @type {() => Promise<ResultPage>} */
  const load = () => api(`results/${encodeURIComponent(handle)}`, query);
  const { data, failure, reload } = useRequest(load, [handle, offset, search, fuzzy]);
  useEffect(() => {
    if (typed === search) return undefined;
    const timer = setTimeout(() => {
      setSearch(typed);
      setOffset(1);
    }, 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const isPattern = failure?.status === 400;
  const last = data ? data.offset + data.returned - 1 : 0;
  return html`<main class="page" id="main"><p><a href="#/results">Stored results</a></p><h1 tabindex="-1">${handle}</h1>
    <p class="muted">${
      info
        ? [
            resultKind(info),
            `${numberOf(info.total_lines)} lines`,
            bytesOf(info.size_bytes),
            `available ${timeLeft(info)}`,
          ].join(" · ")
        : ""
    }</p>
    <div class="row"><label class="grow"><span class="hidden">Search in this result</span>
        <input type="search" placeholder=${fuzzy ? "Similar words" : "Regular expression"} value=${typed}
          spellcheck="false" onInput=${(event) => setTyped(event.target.value)}
          aria-invalid=${isPattern ? "true" : undefined} /></label>
      <label class="check">
        <input type="checkbox" checked=${fuzzy} onChange=${(event) => {
          setFuzzy(event.target.checked);
          setOffset(1);
        }} />similar</label>
    </div>
    ${failure && html`<${Problem} failure=${failure} retry=${failure.status === 0 ? reload : undefined} />`}
    ${
      data &&
      !failure &&
      html`<p class="muted small" role="status">
        ${
          data.matches === undefined ? "" : `${numberOf(data.matches)} of ${numberOf(data.total_lines)} lines match. `
        }${data.returned ? `Showing ${numberOf(data.offset)}–${numberOf(last)}.` : "No lines."}</p>
      <pre class="text lines" tabindex="0" role="group" aria-label="Lines">
        ${data.lines.map(
          (line, at) => html`<span class="numbered" key=${at}><span class="lineno">
              ${data.numbers?.[at] ?? data.offset + at}</span>
            <${MarkedLine} line=${line} marks=${data.marks?.[at]} /></span>`,
        )}</pre>
      <div class="row"><button type="button" disabled=${offset <= 1}
          onClick=${() => setOffset(Math.max(1, offset - PAGE_LINES))}>Previous</button>
        <button type="button" disabled=${!data.has_more}
          onClick=${() => setOffset(offset + PAGE_LINES)}>Next</button></div>`
    }</main>`;
}

/**
 * Shows a line with its matches marked.
 * @param {{ line: string, marks?: [number, number][] }} props
 */
function MarkedLine({ line, marks = [] }) {
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(line.slice(at, start), html`<mark key=${start}>${line.slice(start, end)}</mark>`);
    at = end;
  }
  return html`${parts}${line.slice(at)}`;
}
