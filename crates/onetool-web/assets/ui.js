// Small parts that every view uses.

import { html, useEffect, useRef, useState } from "./preact-htm.js";

/** Tells screen readers, and whoever looks at the corner. */
export function announce(text) {
  const region = document.getElementById("live");
  if (region) region.textContent = text;
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    announce(what);
    return true;
  } catch {
    announce("Copying was not allowed");
    return false;
  }
}

export function CopyButton({ text, label = "Copy", disabled }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    if (await copy(typeof text === "function" ? text() : text)) {
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    }
  };
  return html`<button type="button" class="quiet" disabled=${disabled} onClick=${onClick}>${done ? "Copied" : label}</button>`;
}

/** Offers text or bytes as a file. */
export function save(name, parts, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([parts], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export const bytesOf = (count) => {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(1)} KB` : `${(count / 1e6).toFixed(1)} MB`;
};

export const numberOf = (count) => (count === undefined || count === null ? "–" : count.toLocaleString("en"));

export const durationOf = (ms) => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
};

export const agoOf = (ms) => {
  const seconds = Math.max(0, (Date.now() - ms) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} d ago`;
};

export const timeOf = (ms) => new Date(ms).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });

/** What MCP takes for granted where a tool says nothing. */
const HINTS = [
  ["readOnlyHint", false, "read-only", "writes", "Changes nothing.", "May change something."],
  ["destructiveHint", true, "destructive", "not destructive", "May destroy something.", "Only adds."],
  ["idempotentHint", false, "idempotent", "not idempotent", "Twice is the same as once.", "Twice may not be the same as once."],
  ["openWorldHint", true, "open world", "closed world", "Reaches out of this system.", "Stays inside its own system."],
];

/** Returns the hints of a tool, said or implied. */
export function hintsOf(annotations = {}) {
  return HINTS.map(([key, implied, yes, no, whenYes, whenNo]) => {
    const said = annotations[key] !== undefined;
    const value = said ? annotations[key] : implied;
    return { key, said, value, label: value ? yes : no, title: `${value ? whenYes : whenNo}${said ? "" : " Not said by the tool; MCP's default."}` };
  }).filter(({ key, said }) => said || annotations.readOnlyHint !== true || !["destructiveHint", "idempotentHint"].includes(key));
}

const toneOf = ({ key, value }) => {
  if (key === "destructiveHint" && value) return "bad";
  return key === "readOnlyHint" && value ? "good" : "plain";
};

export function Badge({ hint }) {
  return html`<span class=${`badge ${toneOf(hint)} ${hint.said ? "" : "implied"}`} title=${hint.title}>${hint.label}</span>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><svg viewBox="0 0 48 48" aria-hidden="true"><rect x="7" y="10" width="34" height="28" rx="6" /><path d="M7 19h34M14 27h12M14 32h7" /></svg>
    <h2>${title}</h2><p>${children}</p></div>`;
}

export function Problem({ failure, retry }) {
  return html`<div class="notice bad" role="alert"><p>${failure.message}</p>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}</div>`;
}

export const Loading = ({ what = "Loading" }) => html`<p class="loading" role="status">${what}…</p>`;

/** Asks again when one of `wanted` changes; keeps the last answer meanwhile. */
export function useAsked(question, wanted) {
  const [answer, setAnswer] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let current = true;
    question().then(
      (data) => current && setAnswer({ data }),
      (failure) => current && failure.name !== "AbortError" && setAnswer((last) => ({ data: last.data, failure })),
    );
    return () => {
      current = false;
    };
  }, [...wanted, round]);
  return { ...answer, reload: () => setRound((count) => count + 1) };
}

/** A question that has to be answered before anything else. */
export function Dialog({ title, children, confirm, danger, onConfirm, onCancel }) {
  const dialog = useRef();
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${(event) => { event.preventDefault(); onCancel(); }}>
    <h2 id="dialog-title">${title}</h2>${children}
    <div class="row end"><button type="button" onClick=${onCancel}>Cancel</button>
    <button type="button" class=${danger ? "danger" : "primary"} onClick=${onConfirm}>${confirm}</button></div></dialog>`;
}

/** Buttons of which one is pressed. */
export function Segments({ label, options, value, onChange }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(([key, text]) => html`<button type="button" key=${key} aria-pressed=${key === value} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;
}

/** Calls with the right key on every system. */
export const isRunKey = (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter";
