// @ts-check
// The list of servers.

import { api } from "./server.js";
import { getState, setState } from "./store.js";

/** @import { Server } from "../types.js" */

/**
 * Replaces a server that has changed.
 * @param {Server} server
 */
export function updateServer(server) {
  const servers = getState().servers;
  const isKnown = servers.some(({ name }) => name === server.name);
  setState({ servers: isKnown ? servers.map((it) => (it.name === server.name ? server : it)) : [...servers, server] });
}

/** Loads the servers. */
export const loadServers = async () => setState({ servers: await api("servers") });
