// @ts-check
// The state of the page.

import { useEffect, useState } from "../preact-htm.js";
import { readRoute } from "./route.js";

/** @import { State } from "../types.js" */

/** @type {State} */
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

/** @type {Set<() => void>} */
const listeners = new Set();

/** Returns the state. */
export const getState = () => state;

/** Reads the address again. */
export const readAddress = () => setState({ route: readRoute() });

/**
 * Changes parts of the state.
 * @param {Partial<State>} patch
 */
export function setState(patch) {
  state = { ...state, ...patch };
  for (const listener of [...listeners]) listener();
}

/**
 * Returns what `pick` selects from the state, and redraws the component when it changes.
 * @template T
 * @param {(state: State) => T} pick
 * @returns {T}
 */
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

addEventListener("hashchange", () => {
  const before = state.route;
  setState({ route: readRoute() });
  if (before.view !== state.route.view || before.name !== state.route.name) scrollTo(0, 0);
});
