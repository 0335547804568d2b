// Stored results: which there are, pages of one, and search in it.

import { html, useEffect, useState } from "./preact-htm.js";
import { v1 } from "./api.js";
import { link, useStore } from "./store.js";
import { agoOf, bytesOf, durationOf, Empty, Loading, numberOf, Problem, useAsked } from "./ui.js";

const PAGE = 100;

export function ResultsView({ handle }) {
  const finished = useStore((state) => state.finished);
  const { data, failure, reload } = useAsked(() => v1("results"), [finished, handle]);
  if (handle) return html`<${Reader} key=${handle} handle=${handle} info=${data?.find((info) => info.handle === handle)} />`;
  return html`<main class="page" id="main"><h1 tabindex="-1">Stored results</h1>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data?.length === 0 && html`<${Empty} title="Nothing is stored">An answer that is too large for an agent's context is kept here for a while, to be read in pages.<//>`}
    ${data?.length > 0 && html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Stored results"><table><thead><tr><th scope="col">Handle</th><th scope="col">What</th><th scope="col">Lines</th><th scope="col">Size</th><th scope="col">Stored</th><th scope="col">Can be read</th></tr></thead>
      <tbody>${data.map((info) => html`<tr key=${info.handle}><th scope="row"><a href=${link("results", info.handle)}>${info.handle}</a></th><td>${info.summary}</td><td>${numberOf(info.total_lines)}</td><td>${bytesOf(info.size_bytes)}</td><td>${agoOf(info.created_ms)}</td><td>${leftOf(info)}</td></tr>`)}</tbody></table></div></section>`}</main>`;
}

const leftOf = ({ expires_ms }) => (expires_ms <= Date.now() ? "expired" : `for ${durationOf(expires_ms - Date.now())}`);

function Reader({ handle, info }) {
  const [offset, setOffset] = useState(1);
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [fuzzy, setFuzzy] = useState(false);
  const { data, failure, reload } = useAsked(() => v1(`results/${encodeURIComponent(handle)}`, { offset, limit: PAGE, search, fuzzy: fuzzy && search !== "" }), [handle, offset, search, fuzzy]);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSearch(typed);
      setOffset(1);
    }, 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const isPattern = failure?.status === 400;
  const last = data ? data.offset + data.returned - 1 : 0;
  return html`<main class="page" id="main"><p><a href="#/results">Stored results</a></p><h1 tabindex="-1">${handle}</h1>
    <p class="muted">${info ? `${info.summary} · ${numberOf(info.total_lines)} lines · ${bytesOf(info.size_bytes)} · ${leftOf(info)}` : ""}</p>
    <div class="row"><label class="grow"><span class="hidden">Search in this result</span><input type="search" placeholder=${fuzzy ? "Words to be like" : "Regular expression"} value=${typed} spellcheck="false" onInput=${(event) => setTyped(event.target.value)} aria-invalid=${isPattern ? "true" : undefined} /></label>
      <label class="check"><input type="checkbox" checked=${fuzzy} onChange=${(event) => { setFuzzy(event.target.checked); setOffset(1); }} />similar</label></div>
    ${failure && html`<${Problem} failure=${failure} retry=${failure.status === 0 ? reload : undefined} />`}
    ${data && !failure && html`<p class="muted small" role="status">${data.matches === undefined ? "" : `${numberOf(data.matches)} of ${numberOf(data.total_lines)} lines match. `}${data.returned ? `Showing ${numberOf(data.offset)}–${numberOf(last)}.` : "Nothing here."}</p>
      <pre class="text lines" tabindex="0" aria-label="Lines">${data.lines.map((line, at) => html`<span class="numbered" key=${at}><span class="number">${data.numbers?.[at] ?? data.offset + at}</span><${Marked} line=${line} marks=${data.marks?.[at]} />\n</span>`)}</pre>
      <div class="row"><button type="button" disabled=${offset <= 1} onClick=${() => setOffset(Math.max(1, offset - PAGE))}>Earlier</button><button type="button" disabled=${!data.has_more} onClick=${() => setOffset(offset + PAGE)}>Later</button></div>`}</main>`;
}

function Marked({ line, marks = [] }) {
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(line.slice(at, start), html`<mark key=${start}>${line.slice(start, end)}</mark>`);
    at = end;
  }
  return html`${parts}${line.slice(at)}`;
}
