// @ts-check
// The servers.

import { html, useEffect, useState } from "../preact-htm.js";
import { loadServers } from "../lib/servers.js";
import { useStore } from "../lib/store.js";
import { Empty } from "../widgets/empty.js";
import { Problem } from "../widgets/problem.js";
import { ServerCard } from "../widgets/server-card.js";

/**
 * Shows the servers; the log of one may be open.
 * @param {{ name: string }} props
 */
export function ServersView({ name }) {
  const servers = useStore((state) => state.servers);
  const [failure, setFailure] = useState();
  const load = () => loadServers().then(() => setFailure(undefined), setFailure);
  useEffect(() => {
    load();
  }, []);
  return html`<main class="page" id="main"><h1 tabindex="-1">Servers</h1>
    ${failure && html`<${Problem} failure=${failure} retry=${load} />`}
    ${
      !failure &&
      !servers.length &&
      html`<${Empty}
        title="No servers">Add one under <code>servers:</code> or <code>openapi:</code> in onetool.yaml, then
        reload.<//>`
    }
    <div class="cards">${servers.map(
      (server) => html`<${ServerCard} key=${server.name} server=${server} isOpen=${server.name === name} />`,
    )}</div>
  </main>`;
}
