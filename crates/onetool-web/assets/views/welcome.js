// @ts-check
// The start page of a gateway.

import { html } from "../preact-htm.js";
import { numberOf, percent } from "../lib/format.js";
import { link } from "../lib/route.js";
import { api } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { useRequest } from "../lib/use-request.js";
import { Tile } from "../widgets/tile.js";

/** @import { Pack, Stats } from "../types.js" */

/**
 * Sorts onetool's own pack last.
 * @param {string} pack
 */
const ownPackLast = (pack) => Number(pack === "ot");

/** Shows what is available and what it has saved, before a tool is chosen. */
export function Welcome() {
  const tools = useStore((state) => state.tools);
  const servers = useStore((state) => state.servers);
  const finished = useStore((state) => state.finished);
  /** @type {() => Promise<Pack[]>} */
  const loadPacks = () => api("packs");
  const { data: packs } = useRequest(loadPacks, [tools]);
  /** @type {() => Promise<Stats | undefined>} */
  const loadStats = () => api("stats", { period: "month" }).catch(() => undefined);
  const { data: stats } = useRequest(loadStats, [finished]);
  const healthy = servers.filter(({ enabled, health }) => enabled && health === "healthy").length;
  const enabled = servers.filter(({ enabled }) => enabled).length;
  const active = tools?.filter((tool) => tool.active).length;
  return html`<main class="pane welcome" id="main" tabindex="-1"><div class="stack">
      <p class="lead">Every tool your agents have. Press <kbd>/</kbd> to search as they do, see a tool's arguments, try
        it, and see what it costs and saves.</p>
      <div class="tiles">
        <${Tile} label="Tools" value=${numberOf(tools?.length)}>${numberOf(active)} active in every session<//>
        <${Tile} label="Servers and APIs" value=${enabled ? `${healthy} / ${enabled}` : "–"}>
          ${
            enabled
              ? healthy === enabled
                ? "all healthy"
                : html`<a href="#/servers">${enabled - healthy} not healthy</a>`
              : "none configured"
          }<//>
        <${Tile} label="Calls, 30 days" value=${numberOf(stats?.total_calls)}>
          ${stats ? `${percent(stats.success_rate)} succeeded` : "statistics are off"}<//>
        <${Tile} label="Context saved, 30 days"
          value=${stats?.total_calls ? numberOf(stats.context_saved) : "–"}>tokens kept out of agents' context<//>
      </div>
      <h2>Packs</h2>
      <ul class="packs">${packs
        ?.toSorted((left, right) => ownPackLast(left.name) - ownPackLast(right.name))
        .map(
          ({ name, source, tool_count: count, instructions }) => html`<li key=${name}>
            <a class="card" href=${link("tools", undefined, { pack: name })}><span class="row"><strong>${name}</strong>
                <span class="grow"></span>
                <span class="badge">${source}</span></span><span class="muted small">
                ${numberOf(count)} ${count === 1 ? "tool" : "tools"}</span>
              ${instructions && html`<span class="about small">${instructions.split("\n")[0]}</span>`}</a></li>`,
        )}</ul></div></main>`;
}
