// @ts-check
// The state of the connection, and how many servers are down.

import { html } from "../preact-htm.js";
import { useStore } from "../lib/store.js";

/** Shows the state of the connection and the number of servers that are down. */
export function Connection() {
  const connection = useStore((state) => state.connection);
  const servers = useStore((state) => state.servers);
  const down = servers.filter((server) => server.enabled && server.health === "unhealthy").length;
  return html`${
    down > 0 && html`<a class="alarm" href="#/servers">${down} ${down === 1 ? "server" : "servers"} down</a>`
  }
  <span class=${`connection ${connection}`}
    role="status" title=${connection === "live" ? "Changes appear immediately" : "Trying to reach the server"}>
    ${{ live: "live", lost: "reconnecting…", idle: "" }[connection]}</span>`;
}
