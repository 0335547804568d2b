// @ts-check
// Loads the data and keeps it up to date.

import { announce } from "./browser.js";
import { listen } from "./events.js";
import { api, ask, config } from "./server.js";
import { loadServers, updateServer } from "./servers.js";
import { getState, setState } from "./store.js";

/** @import { GatewayEvent, Tool } from "../types.js" */

const POLL_MS = 15_000;

/** Loads tools, overview and servers; returns whether that worked. */
export async function loadAll() {
  try {
    /** @type {Tool[]} */
    const listed = await (config.gateway ? api("tools") : ask("tools"));
    // onetool's own pack comes last.
    const tools = listed.toSorted((left, right) => Number(left.pack === "ot") - Number(right.pack === "ot"));
    setState({ tools, failure: undefined });
    if (config.gateway) {
      setState({ overview: await api("overview") });
      await loadServers();
    }
    return true;
  } catch (failure) {
    setState({ failure: failure.status === 401 ? undefined : failure });
    return false;
  }
}

/** Stops updates. */
export let stopListening = () => {};

/** Loads the data, then follows events; without a gateway, loads again from time to time. */
export async function connect() {
  stopListening();
  if (!(await loadAll()) && getState().refused !== undefined) return;
  if (!config.gateway) {
    const timer = setInterval(() => document.visibilityState === "visible" && loadAll(), POLL_MS);
    stopListening = () => clearInterval(timer);
    return;
  }
  const poll = setInterval(() => getState().connection !== "live" && loadAll(), POLL_MS);
  const stop = listen(onEvent, (connection, isBack) => {
    setState({ connection });
    if (isBack) {
      announce("The connection is back");
      loadAll();
    }
  });
  stopListening = () => {
    clearInterval(poll);
    stop();
  };
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let reloadTimer;

/**
 * Applies an event of the gateway.
 * @param {GatewayEvent} event
 */
function onEvent(event) {
  if (event.type === "server_health") updateServer(event.server);
  else if (event.type === "call_finished") setState({ finished: event.call.id });
  else {
    // One reload for many changes in a row.
    clearTimeout(reloadTimer);
    reloadTimer = setTimeout(loadAll, 100);
  }
}
