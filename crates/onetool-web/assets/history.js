// Calls that were made: look at them, make them again, keep them, compare two.

import { html, useState } from "./preact-htm.js";
import { config, v1 } from "./api.js";
import { diffLines } from "./diff.js";
import { stringify } from "./json.js";
import { Output } from "./result.js";
import { get, link, set, useStore } from "./store.js";
import { agoOf, announce, durationOf, Empty, Loading, Problem, save, timeOf, useAsked } from "./ui.js";

const listCalls = async (tool) => {
  if (config.gateway) return v1("history", { tool, limit: 100 });
  return get().calls.filter((call) => !tool || call.tool === tool);
};

const recordOf = async (id) => {
  if (config.gateway) return v1(`history/${encodeURIComponent(id)}`);
  return get().calls.find((call) => call.id === id);
};

async function pin(call) {
  if (config.gateway) await v1(`history/${encodeURIComponent(call.id)}/pinned`, {}, { method: "PUT", body: { pinned: !call.pinned } });
  else set({ calls: get().calls.map((it) => (it.id === call.id ? { ...it, pinned: !it.pinned } : it)) });
}

/** The calls of one tool, or of all. */
export function HistoryList({ tool }) {
  const finished = useStore((state) => state.finished);
  const calls = useStore((state) => state.calls);
  const { data, failure, reload } = useAsked(() => listCalls(tool), [tool, finished, calls]);
  const [open, setOpen] = useState();
  const [marked, setMarked] = useState([]);
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  if (!data) return html`<${Loading} />`;
  if (!data.length) return html`<${Empty} title="No calls yet">Every call from now on is listed here, with its arguments and its result.<//>`;
  const mark = (id) => setMarked(marked.includes(id) ? marked.filter((it) => it !== id) : [...marked, id].slice(-2));
  const sorted = [...data].sort((left, right) => Number(right.pinned) - Number(left.pinned));
  return html`${marked.length === 2 && html`<${Difference} ids=${marked} onClose=${() => setMarked([])} />`}
    <ul class="calls">${sorted.map((call) => html`<li key=${call.id}>
      <div class="call"><button type="button" class="link" aria-expanded=${open === call.id} onClick=${() => setOpen(open === call.id ? undefined : call.id)}>
          <span class=${`state ${call.is_error ? "bad" : "good"}`}>${call.is_error ? "failed" : "fine"}</span>${!tool && html`<code>${call.tool}</code>`}<span title=${timeOf(call.at_ms)}>${agoOf(call.at_ms)}</span><span class="muted">${durationOf(call.duration_ms)}</span><span class="muted">${call.surface}</span></button>
        <label class="check"><input type="checkbox" aria-label=${`Compare the call of ${timeOf(call.at_ms)}`} checked=${marked.includes(call.id)} onChange=${() => mark(call.id)} />compare</label>
        <button type="button" class="quiet" aria-pressed=${call.pinned} onClick=${async () => { await pin(call); reload(); }}>${call.pinned ? "Pinned" : "Pin"}</button></div>
      ${open === call.id && html`<${Details} id=${call.id} />`}</li>`)}</ul>`;
}

function Details({ id }) {
  const { data, failure } = useAsked(() => recordOf(id), [id]);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  return html`<div class="details"><h3>Arguments</h3><pre class="text" tabindex="0">${stringify(data.arguments, 2)}</pre>
    <a class="button" href=${link("tools", data.tool, { args: stringify(data.arguments) })}>Edit and run again</a>
    <h3>Result</h3><${Output} output=${data.output} /></div>`;
}

const textOf = (output) => {
  const blocks = (output.content ?? []).map((block) => (block.type === "text" ? block.text : stringify(block, 2)));
  return output.structuredContent === undefined ? blocks.join("\n") : stringify(output.structuredContent, 2);
};

function Difference({ ids, onClose }) {
  const { data, failure } = useAsked(() => Promise.all(ids.map(recordOf)), ids);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  const [older, newer] = [...data].sort((left, right) => left.at_ms - right.at_ms);
  const lines = diffLines(textOf(older.output), textOf(newer.output));
  const isSame = lines.every(({ sign }) => sign === " ");
  return html`<section class="diff" aria-label="Difference of two results"><div class="row"><h3>${agoOf(older.at_ms)} → ${agoOf(newer.at_ms)}</h3><span class="grow"></span><button type="button" class="quiet" onClick=${onClose}>Close</button></div>
    ${isSame ? html`<p class="muted">The two results are the same.</p>` : html`<pre class="text" tabindex="0">${lines.map(({ sign, text }, at) => html`<span key=${at} class=${{ "+": "added", "-": "removed", " ": "" }[sign]}>${sign} ${text}\n</span>`)}</pre>`}</section>`;
}

export function HistoryView() {
  const overview = useStore((state) => state.overview);
  const [round, setRound] = useState(0);
  const isOn = overview?.history ?? true;
  const exportAll = async () => {
    const calls = await listCalls();
    save("history.json", stringify(await Promise.all(calls.map((call) => recordOf(call.id))), 2), "application/json");
  };
  const clear = async () => {
    if (config.gateway) await v1("history", {}, { method: "DELETE" });
    else set({ calls: get().calls.filter((call) => call.pinned) });
    announce("Cleared, but for pinned calls");
    setRound(round + 1);
  };
  const toggle = async (event) => {
    await v1("history", {}, { method: "PUT", body: { enabled: event.target.checked } });
    set({ overview: { ...overview, history: !isOn } });
  };
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">History</h1><span class="grow"></span>
      ${config.gateway && html`<label class="check"><input type="checkbox" role="switch" checked=${isOn} onChange=${toggle} />remember calls</label>`}
      <button type="button" onClick=${exportAll}>Export JSON</button><button type="button" onClick=${clear}>Clear</button></div>
    ${!isOn && html`<div class="notice"><p>Calls are not remembered now.</p></div>`}
    <${HistoryList} key=${round} /></main>`;
}
