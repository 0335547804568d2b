// What every view shares: the server, the state, the address after the `#`, and small parts.

import { html, useEffect, useRef, useState } from "./preact-htm.js";
import { parse } from "./data.js";

// The server

/** The root of the mount: this file lies in `assets/`. */
export const base = new URL("..", import.meta.url);

export const config = JSON.parse(document.getElementById("config").textContent);

const KEY = "onetool-token";

const storage = {
  get: () => {
    try {
      return sessionStorage.getItem(KEY);
    } catch {
      return null;
    }
  },
  set: (token) => {
    try {
      token ? sessionStorage.setItem(KEY, token) : sessionStorage.removeItem(KEY);
    } catch {
      // Without storage the token lasts as long as the page.
    }
  },
};

let token = storage.get();
let onRefused = () => {};

/** Takes a token out of `#token=…`, and out of the address bar and the history. */
export function takeTokenFromAddress() {
  const given = location.hash.match(/^#token=([^&]*)&?(.*)$/s);
  if (!given) return;
  setToken(decodeURIComponent(given[1]));
  history.replaceState(null, "", `${location.pathname}${location.search}${given[2] ? `#${given[2]}` : ""}`);
}

export const getToken = () => token;

export function setToken(value) {
  token = value;
  storage.set(value);
}

/** Sets who is told when the server does not take the token. */
export function whenRefused(listener) {
  onRefused = listener;
}

/** An answer that is no success: `status` 0 means that there was none. */
export class Failure extends Error {
  constructor(status, message, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export const toolPath = (name, rest = "") => `tools/${encodeURIComponent(name)}${rest}`;

/** Sends a request and returns status, text and time, whatever the status. */
export async function send(path, { method = "GET", body, signal } = {}) {
  const headers = {};
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const begun = performance.now();
  let response;
  let text;
  try {
    response = await fetch(new URL(path, base), { method, headers, body, signal, cache: "no-store" });
    text = await response.text();
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new Failure(0, "The server did not answer. Is it still running?");
  }
  if (response.status === 401) onRefused(Boolean(token));
  return { status: response.status, text, ms: performance.now() - begun };
}

/** Sends a request and returns the data; anything but a success throws. */
export async function ask(path, options = {}) {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const { status, text } = await send(path, { ...options, body });
  let data;
  try {
    data = parse(text);
  } catch {
    data = undefined;
  }
  if (status >= 200 && status < 300) return data;
  throw new Failure(status, data?.error ?? `The server answered ${status}.`, data);
}

const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const v1 = (path, values = {}, options) => ask(`api/v1/${path}${query(values)}`, options);

/** Listens until told to stop; comes back after a loss. `onState` hears `live`, `lost` and `polling`. */
export function listen(onEvent, onState) {
  const stopping = new AbortController();
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const run = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const headers = token ? { authorization: `Bearer ${token}` } : {};
        const response = await fetch(new URL("api/v1/events", base), { headers, signal: stopping.signal });
        if (response.status === 401) return onRefused(true);
        if (!response.ok) throw new Failure(response.status, "no events");
        onState("live", failures > 0);
        failures = 0;
        await readEvents(response.body, onEvent);
      } catch {
        if (stopping.signal.aborted) return;
      }
      failures += 1;
      onState("lost");
      await wait(Math.min(500 * 2 ** failures, 15000));
    }
  };
  run();
  return () => stopping.abort();
}

async function readEvents(body, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    const messages = buffer.split("\n\n");
    buffer = messages.pop();
    for (const message of messages) {
      const data = message.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
      if (data.length) onEvent(JSON.parse(data.join("\n")));
    }
  }
}

// State and address

let state = {
  tools: undefined,
  failure: undefined,
  overview: undefined,
  servers: [],
  connection: "idle",
  refused: undefined,
  calls: [],
  route: readRoute(),
};
const listeners = new Set();

export const get = () => state;

/** Looks at the address again. */
export const readAddress = () => set({ route: readRoute() });

export function set(patch) {
  state = { ...state, ...patch };
  for (const listener of [...listeners]) listener();
}

/** Draws the component again when what `pick` returns has changed. */
export function useStore(pick) {
  const [, redraw] = useState(0);
  const picked = pick(state);
  useEffect(() => {
    let last = picked;
    const listener = () => {
      const next = pick(state);
      if (next !== last) {
        last = next;
        redraw((count) => count + 1);
      }
    };
    listeners.add(listener);
    listener();
    return () => listeners.delete(listener);
  }, []);
  return picked;
}

function readRoute() {
  const [path, values = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  let name = rest.join("/");
  try {
    name = decodeURIComponent(name);
  } catch {
    // A broken escape is shown as it is.
  }
  return { view: view || "tools", name, values: new URLSearchParams(values) };
}

addEventListener("hashchange", () => {
  const before = state.route;
  set({ route: readRoute() });
  if (before.view !== state.route.view || before.name !== state.route.name) scrollTo(0, 0);
});

export const link = (view, name, values) => {
  const tail = values ? `?${new URLSearchParams(values)}` : "";
  return `#/${view}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${tail}`;
};

export const go = (view, name, values) => {
  location.hash = link(view, name, values);
};

// Small parts

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
  return html`<div class="empty"><svg viewBox="0 0 48 48" aria-hidden="true"><rect x="7" y="10" width="34" height="28" rx="6" />
    <path d="M7 19h34M14 27h12M14 32h7" /></svg>
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
    ${options.map(([key, text]) => html`<button type="button" key=${key} aria-pressed=${key === value} onClick=${() => onChange(key)}>
      ${text}</button>`)}</div>`;
}

/** Calls with the right key on every system. */
export const isRunKey = (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter";
