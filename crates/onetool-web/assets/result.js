// What a tool answered: text, data, pictures, sound, resources; raw; and how it went.

import { html, useEffect, useState } from "./preact-htm.js";
import { config } from "./api.js";
import { isRaw, read, stringify, typeOf } from "./json.js";
import { link } from "./store.js";
import { bytesOf, CopyButton, durationOf, numberOf, save, Segments } from "./ui.js";

const PLAIN_ABOVE = 50_000;
const CUT_ABOVE = 256_000;
const CHILDREN = 100;

/** Text, cut where it would stall the page. */
export function Plain({ text, name = "result.txt" }) {
  if (text.length <= CUT_ABOVE) return html`<pre class="text" tabindex="0">${text}</pre>`;
  return html`<div class="notice"><p>${bytesOf(text.length)} of text. The first ${bytesOf(PLAIN_ABOVE)} are shown.</p>
      <button type="button" onClick=${() => save(name, text)}>Save it all</button></div>
    <pre class="text" tabindex="0">${text.slice(0, PLAIN_ABOVE)}…</pre>`;
}

/** JSON as a tree whose branches are drawn when they are opened. */
export function Tree({ value }) {
  return html`<div class="tree" tabindex="0" role="group" aria-label="Data"><${Node} value=${value} isOpen /></div>`;
}

function Node({ name, value, isOpen = false }) {
  const [open, setOpen] = useState(isOpen);
  const [limit, setLimit] = useState(CHILDREN);
  const label = name === undefined ? "" : html`<span class="key">${name}</span>: `;
  const type = isRaw(value) ? "integer" : typeOf(value);
  if (type !== "object" && type !== "array") return html`<div class="leaf">${label}<span class=${`value ${type}`}>${stringify(value)}</span></div>`;
  const entries = Object.entries(value);
  const size = type === "array" ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return html`<div class="leaf">${label}<span class="value">${type === "array" ? "[]" : "{}"}</span></div>`;
  return html`<div class="branch"><button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}><span class="turn" aria-hidden="true">▸</span>${label}<span class="muted">${size}</span></button>
    ${open && html`<div class="children">${entries.slice(0, limit).map(([key, part]) => html`<${Node} key=${key} name=${key} value=${part} isOpen=${entries.length <= 8 && name === undefined} />`)}
      ${entries.length > limit && html`<button type="button" class="quiet" onClick=${() => setLimit(limit + 1000)}>${numberOf(entries.length - limit)} more</button>`}</div>`}</div>`;
}

const isType = (type, kind) => typeof type === "string" && new RegExp(`^${kind}/[a-z0-9.+-]+$`, "i").test(type);
const isBase64 = (data) => typeof data === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data.slice(0, 4096) + data.slice(-4));
const bytesFrom = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));

/** One block of content. Only data of a known type becomes an element; everything else stays text. */
export function Block({ block }) {
  switch (block?.type) {
    case "text":
      return html`<${TextBlock} text=${String(block.text)} />`;
    case "image":
      if (isType(block.mimeType, "image") && isBase64(block.data))
        return html`<figure><img src=${`data:${block.mimeType};base64,${block.data}`} alt=${`Picture from the tool, ${block.mimeType}`} /><figcaption>${block.mimeType} · ${bytesOf(block.data.length * 0.75)}
          <button type="button" class="quiet" onClick=${() => save("picture", bytesFrom(block.data), block.mimeType)}>Save</button></figcaption></figure>`;
      break;
    case "audio":
      if (isType(block.mimeType, "audio") && isBase64(block.data))
        return html`<figure><audio controls src=${`data:${block.mimeType};base64,${block.data}`}></audio><figcaption>${block.mimeType}</figcaption></figure>`;
      break;
    case "resource_link":
      return html`<div class="resource"><strong>${block.name}</strong> ${block.mimeType && html`<span class="muted">${block.mimeType}</span>`}<code>${block.uri}</code>${block.description && html`<p>${block.description}</p>`}<${CopyButton} text=${String(block.uri)} label="Copy address" /></div>`;
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource ?? {};
      return html`<div class="resource"><code>${uri}</code> ${mimeType && html`<span class="muted">${mimeType}</span>`}
        ${text !== undefined && html`<${TextBlock} text=${String(text)} />`}
        ${isBase64(blob) && html`<button type="button" onClick=${() => save("resource", bytesFrom(blob), "application/octet-stream")}>Save ${bytesOf(Math.floor(blob.length * 0.75))}</button>`}</div>`;
    }
  }
  return html`<${Plain} text=${stringify(block, 2)} />`;
}

function TextBlock({ text }) {
  const isJson = text.length <= CUT_ABOVE && /^\s*[[{]/.test(text);
  const parsed = isJson ? read(text) : {};
  const [asTree, setAsTree] = useState(true);
  if (!isJson || parsed.error) return html`<${Plain} text=${text} />`;
  return html`<div><button type="button" class="quiet" onClick=${() => setAsTree(!asTree)}>${asTree ? "As text" : "As tree"}</button>${asTree ? html`<${Tree} value=${parsed.value} />` : html`<${Plain} text=${text} />`}</div>`;
}

/** Tells whether an answer stands for a result that was stored because it is large. */
const isStored = (data) => typeOf(data) === "object" && typeof data.handle === "string" && typeof data.total_lines === "number" && Array.isArray(data.preview);

export function Output({ output }) {
  const data = output.structuredContent;
  if (isStored(data))
    return html`<div class="notice stored"><p><strong>${numberOf(data.total_lines)} lines</strong>, ${bytesOf(data.size_bytes)}. The result was stored, so that it does not fill the context.</p>
        ${config.gateway && html`<a class="button" href=${link("results", data.handle)}>Read it</a>`}</div><${Plain} text=${data.preview.join("\n")} />`;
  const blocks = Array.isArray(output.content) ? output.content : [];
  const isSame = data !== undefined && blocks.length === 1 && blocks[0].type === "text" && stringify(read(blocks[0].text).value) === stringify(data);
  return html`${data !== undefined && html`<${Tree} value=${data} />`}
    ${!isSame && blocks.map((block, at) => html`<${Block} key=${at} block=${block} />`)}
    ${data === undefined && !blocks.length && html`<p class="muted">The tool answered without content.</p>`}`;
}

function Elapsed({ since }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="clock">${durationOf(performance.now() - since)}</span>`;
}

const headline = ({ cancelled, failure, output, status }) => {
  if (cancelled) return ["plain", "Cancelled"];
  if (!status) return ["bad", "No answer"];
  if (output) return output.isError ? ["bad", "The tool reports an error"] : ["good", "Success"];
  return ["bad", failure?.status === 401 ? "Not allowed in" : "Refused"];
};

/** The outcome of a call: under way, answered, refused, or lost. */
export function Outcome({ outcome, name = "result", empty }) {
  const [view, setView] = useState("content");
  if (!outcome) return empty;
  if (outcome.since !== undefined) return html`<div class="running" role="status"><span class="pulse" aria-hidden="true"></span>Running <${Elapsed} since=${outcome.since} /></div>`;
  const [tone, words] = headline(outcome);
  const { output, text, status, ms, failure } = outcome;
  const trace = output?._meta?._trace_id;
  const body = output ? text : (failure?.message ?? "");
  return html`<div class="outcome">
    <div class=${`verdict ${tone}`}><strong>${words}</strong><span>${durationOf(ms)}</span>${status > 0 && html`<span>HTTP ${status}</span>`}${text && html`<span>${bytesOf(text.length)}</span>`}
      ${trace && html`<span class="trace" title="Trace id">${trace}</span>`}</div>
    ${!output && html`<p class="failure">${outcome.cancelled ? "The request was closed, which stops the tool." : body}</p>`}
    ${output && html`<div class="row tools"><${Segments} label="Show the result as" options=${[["content", "Content"], ["raw", "Raw"]]} value=${view} onChange=${setView} />
      <span class="grow"></span><${CopyButton} text=${text} /><button type="button" class="quiet" onClick=${() => save(`${name}.json`, text, "application/json")}>Save</button></div>
      ${view === "raw" ? html`<${Plain} text=${text.length <= CUT_ABOVE ? stringify(read(text).value ?? text, 2) : text} name=${`${name}.json`} />` : html`<${Output} output=${output} />`}`}</div>`;
}
