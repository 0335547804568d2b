// The server: requests with the token, what went wrong in words, and live events.

import { parse } from "./json.js";

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
