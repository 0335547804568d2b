// What every view shares, and where we are: one small store, and the address after the `#`.

import { useEffect, useState } from "./preact-htm.js";

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

addEventListener("hashchange", () => set({ route: readRoute() }));

export const link = (view, name, values) => {
  const tail = values ? `?${new URLSearchParams(values)}` : "";
  return `#/${view}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${tail}`;
};

export const go = (view, name, values) => {
  location.hash = link(view, name, values);
};
