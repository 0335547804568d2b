// Servers behind the gateway: how they are, why, and what to do.

import { html, useEffect, useState } from "./preact-htm.js";
import { v1 } from "./api.js";
import { packOf, setActive } from "./list.js";
import { get, link, set, useStore } from "./store.js";
import { agoOf, announce, Empty, numberOf, Problem, useAsked } from "./ui.js";

/** Puts a server that changed in its place. */
export function updateServer(server) {
  const servers = get().servers;
  const isKnown = servers.some(({ name }) => name === server.name);
  set({ servers: isKnown ? servers.map((it) => (it.name === server.name ? server : it)) : [...servers, server] });
}

export const loadServers = async () => set({ servers: await v1("servers") });

const stateOf = ({ enabled, health }) => (enabled ? health : "off");

export function ServersView({ name }) {
  const servers = useStore((state) => state.servers);
  const [failure, setFailure] = useState();
  const load = () => loadServers().then(() => setFailure(undefined), setFailure);
  useEffect(() => {
    load();
  }, []);
  return html`<main class="page" id="main"><h1 tabindex="-1">Servers</h1>
    ${failure && html`<${Problem} failure=${failure} retry=${load} />`}
    ${!failure && !servers.length && html`<${Empty} title="No servers">Add one under <code>servers:</code> or <code>openapi:</code> in onetool.yaml, then reload.<//>`}
    <div class="cards">${servers.map((server) => html`<${Server} key=${server.name} server=${server} isOpen=${server.name === name} />`)}</div></main>`;
}

function Server({ server, isOpen }) {
  const tools = useStore((state) => state.tools) ?? [];
  const [problem, setProblem] = useState();
  const [busy, setBusy] = useState(false);
  const names = tools.filter((tool) => packOf(tool) === server.name);
  const isAllActive = names.length > 0 && names.every((tool) => tool.active);
  const change = async (path, options) => {
    setBusy(true);
    try {
      updateServer(await v1(`servers/${encodeURIComponent(server.name)}/${path}`, {}, options));
      setProblem(undefined);
      announce(`${server.name}: done`);
    } catch (failure) {
      setProblem(failure);
    }
    setBusy(false);
  };
  const state = stateOf(server);
  return html`<section class=${`card ${state}`} aria-label=${server.name} data-server=${server.name}>
    <div class="row"><h2><a href=${link("servers", server.name)}>${server.name}</a></h2><span class=${`state ${{ healthy: "good", degraded: "warn", unhealthy: "bad" }[state] ?? ""}`}>${state}</span><span class="grow"></span>
      <label class="check"><input type="checkbox" role="switch" checked=${server.enabled} disabled=${busy} onChange=${(event) => change("enabled", { method: "PUT", body: { enabled: event.target.checked } })} />on</label></div>
    <dl><dt>Transport</dt><dd>${server.transport}</dd><dt>Tools</dt><dd>${numberOf(server.tool_count)}</dd><dt>Since</dt><dd>${agoOf(server.since_ms)}</dd></dl>
    ${server.enabled && server.reason && html`<p class="reason"><strong>${server.reason}.</strong> ${server.next_action}</p>`}
    ${server.last_error && server.last_error !== server.reason && html`<p class="muted small">Last error: ${server.last_error}</p>`}
    ${problem && html`<${Problem} failure=${problem} />`}
    <div class="row"><button type="button" disabled=${busy || !server.enabled} onClick=${() => change("reconnect", { method: "POST" })}>Reconnect</button>
      <button type="button" disabled=${!names.length} onClick=${() => setActive(names.map((tool) => tool.name), !isAllActive)}>${isAllActive ? "Deactivate" : "Activate"} its tools</button>
      <a class="button quiet" href=${isOpen ? link("servers") : link("servers", server.name)} aria-expanded=${isOpen}>Error output</a></div>
    ${isOpen && html`<${Log} name=${server.name} />`}</section>`;
}

function Log({ name }) {
  const { data, failure, reload } = useAsked(() => v1(`servers/${encodeURIComponent(name)}/log`), [name]);
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  return html`<pre class="text" tabindex="0" aria-label="Error output">${data?.lines.length ? data.lines.join("\n") : "It wrote nothing."}</pre>`;
}
