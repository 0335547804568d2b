// @ts-check
// One server: state, switches, log.

import { html, useState } from "../preact-htm.js";
import { announce } from "../lib/browser.js";
import { agoOf, numberOf } from "../lib/format.js";
import { link } from "../lib/route.js";
import { api } from "../lib/server.js";
import { updateServer } from "../lib/servers.js";
import { useStore } from "../lib/store.js";
import { packOf, setActive } from "../lib/tools.js";
import { Problem } from "./problem.js";
import { ServerLog } from "./server-log.js";

/**
 * @import { StateHook } from "../preact-htm.js"
 * @import { FieldEvent, RequestError, RequestOptions, Server } from "../types.js"
 */

/**
 * The label of a server's log, by transport.
 * @type {{ [transport: string]: string }}
 */
const LOG_LABELS = { stdio: "Log", openapi: "Notes" };

/**
 * Returns the health of a server, or `off`.
 * @param {Server} server
 */
const serverState = ({ enabled, health }) => (enabled ? health : "off");

/**
 * Shows one server.
 * @param {{ server: Server, isOpen: boolean }} props
 */
export function ServerCard({ server, isOpen }) {
  const tools = useStore((state) => state.tools) ?? [];
  /** @type {StateHook<RequestError | undefined>} */
  const [problem, setProblem] = useState();
  const [busy, setBusy] = useState(false);
  const names = tools.filter((tool) => packOf(tool) === server.name);
  const isAllActive = names.length > 0 && names.every((tool) => tool.active);
  /** @param {string} path @param {RequestOptions} options */
  const change = async (path, options) => {
    setBusy(true);
    try {
      updateServer(await api(`servers/${encodeURIComponent(server.name)}/${path}`, {}, options));
      setProblem(undefined);
      announce(`${server.name}: done`);
    } catch (failure) {
      updateServer(server);
      setProblem(failure);
    }
    setBusy(false);
  };
  /** @param {FieldEvent} event */
  const toggle = (event) => {
    const enabled = event.target.checked;
    updateServer({ ...server, enabled });
    change("enabled", { method: "PUT", body: { enabled } });
  };
  const state = serverState(server);
  return html`<section class=${`card ${state}`} aria-label=${server.name} data-server=${server.name}>
    <div class="row"><h2><a href=${link("servers", server.name)}>${server.name}</a></h2>
      <span class=${`state ${{ healthy: "good", degraded: "warn", unhealthy: "bad", off: "" }[state]}`}>${state}</span>
      <span class="grow">
      </span>
      <label class="check">
        <input type="checkbox" role="switch" checked=${server.enabled} disabled=${busy} onChange=${toggle}
          />on</label></div>
    <dl><dt>Transport</dt><dd>${server.transport}</dd><dt>Tools</dt><dd>${numberOf(server.tool_count)}</dd>
      <dt>Since</dt><dd>
        ${agoOf(server.since_ms)}</dd></dl>
    ${
      server.enabled &&
      server.reason &&
      html`<p class="reason"><strong>${server.reason}.</strong> ${server.next_action}</p>`
    }
    ${
      server.last_error &&
      server.last_error !== server.reason &&
      html`<p class="muted small">Last error: ${server.last_error}</p>`
    }
    ${problem && html`<${Problem} failure=${problem} />`}
    <div class="row"><button type="button" disabled=${busy || !server.enabled}
        onClick=${() => change("reconnect", { method: "POST" })}>Reconnect</button>
      <button type="button" disabled=${!names.length} onClick=${() =>
        setActive(
          names.map((tool) => tool.name),
          !isAllActive,
        )}>
        ${isAllActive ? "Deactivate" : "Activate"} tools</button>
      ${
        LOG_LABELS[server.transport] &&
        html`<a class="button quiet"
          href=${isOpen ? link("servers") : link("servers", server.name)} aria-expanded=${isOpen}>
          ${LOG_LABELS[server.transport]}</a>`
      }</div>
    ${isOpen && html`<${ServerLog} name=${server.name} />`}</section>`;
}
