// @ts-check
// The list of tools with search and filters.

import { html, useEffect, useMemo, useRef, useState } from "../preact-htm.js";
import { numberOf } from "../lib/format.js";
import { go, link } from "../lib/route.js";
import { nearNames, rankLocally } from "../lib/search.js";
import { api, config } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { packOf, setActive } from "../lib/tools.js";
import { Empty } from "./empty.js";
import { Loading } from "./loading.js";
import { Problem } from "./problem.js";
import { ToolGroups } from "./tool-groups.js";
import { ToolRow } from "./tool-row.js";

/**
 * @import { Ref, StateHook } from "../preact-htm.js"
 * @import { Filter, HintKey, Hit, SearchResult, Tool } from "../types.js"
 */

const MAX_ROWS = 200;

/** Rows shown while the user is typing: about one screen. */
const FIRST_ROWS = 40;

const DEBOUNCE_MS = 80;

/** @type {[HintKey, string][]} */
const FILTERS = [
  ["readOnlyHint", "Read-only"],
  ["destructiveHint", "Destructive"],
];

/**
 * Searches in the gateway shortly after the last keystroke.
 * @param {string} query
 * @param {Tool[] | undefined} tools
 * @returns {SearchResult | undefined}
 */
function useServerSearch(query, tools) {
  /** @type {StateHook<SearchResult | undefined>} */
  const [result, setResult] = useState();
  useEffect(() => {
    if (!config.gateway || !query.trim()) return setResult(undefined);
    const stopping = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setResult({ query, ...(await api("search", { q: query, limit: MAX_ROWS }, { signal: stopping.signal })) });
      } catch (failure) {
        if (failure.name !== "AbortError") setResult(undefined);
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [query, tools]);
  return result?.query === query ? result : undefined;
}

/**
 * Shows the tools with search and filters.
 * @param {{ selected: string, reload: () => void }} props
 */
export function ToolList({ selected, reload }) {
  const tools = useStore((state) => state.tools);
  const failure = useStore((state) => state.failure);
  const [query, setQuery] = useState("");
  const [source, setSource] = useState("");
  const requested = useStore((state) => state.route.values.get("pack"));
  useEffect(() => {
    if (requested !== null) setSource(requested);
  }, [requested]);
  const [filters, setFilters] = useState(/** @type {Filter[]} */ ([]));
  const [limit, setLimit] = useState(MAX_ROWS);
  /** @type {Ref<HTMLElement>} */
  const list = useRef();
  const result = useServerSearch(query, tools);
  /** @param {string} text */
  const type = (text) => {
    setQuery(text);
    setLimit(FIRST_ROWS);
  };
  useEffect(() => {
    const timer = setTimeout(() => setLimit(MAX_ROWS), 4 * DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [query]);
  const sources = useMemo(() => [...new Set((tools ?? []).map(packOf))].filter(Boolean).sort(), [tools]);
  const hits = useMemo(() => {
    if (!tools) return [];
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    /** @type {Hit[]} */
    const ranked = result
      ? result.hits.flatMap((hit) => {
          const tool = byName.get(hit.name);
          return tool ? [{ ...hit, tool }] : [];
        })
      : rankLocally(tools, query);
    return ranked.filter(({ tool }) => {
      if (source && packOf(tool) !== source) return false;
      return filters.every((filter) => (filter === "active" ? tool.active : tool.annotations?.[filter] === true));
    });
  }, [tools, query, result, source, filters]);
  const shown = hits.slice(0, limit);
  const isSearch = query.trim() !== "";
  const suggestions = hits.length || !tools ? [] : (result?.suggestions ?? nearNames(tools, query));
  /** @param {Filter} filter */
  const toggle = (filter) =>
    setFilters(filters.includes(filter) ? filters.filter((it) => it !== filter) : [...filters, filter]);

  /** @param {KeyboardEvent & { target: HTMLElement }} event */
  const onKey = (event) => {
    /** @type {NodeListOf<HTMLElement> | undefined} */
    const rows = list.current?.querySelectorAll("a.tool");
    const links = [...(rows ?? [])];
    const at = links.findIndex((it) => it === document.activeElement);
    if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (at <= 0 ? document.getElementById("search") : links[at - 1])?.focus();
    else if (event.key === "Enter" && event.target.id === "search" && shown[0]) go("tools", shown[0].tool.name);
    else if (event.key === "Escape" && query) type("");
    else return;
    event.preventDefault();
  };

  return html`<nav class="pane list" aria-label="Tools" onKeyDown=${onKey}>
    ${!selected && html`<h1 class="hidden">Tools</h1>`}
    <div class="searchbar">
      <input id="search" type="search" placeholder="Search tools" aria-label="Search tools"
        aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false" value=${query}
        onInput=${(event) => type(event.target.value)} />
      ${!isSearch && html`<kbd aria-hidden="true">/</kbd>`}
    </div>
    <div class="filters">
      <select aria-label="Pack" value=${source} onChange=${(event) => setSource(event.target.value)}>
        <option value="">All packs</option>
        ${sources.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
      ${
        config.gateway &&
        html`<button type="button" class="chip" aria-pressed=${filters.includes("active")}
          onClick=${() => toggle("active")}>Active</button>`
      }
      ${FILTERS.map(
        ([key, label]) => html`<button type="button" class="chip" key=${key} aria-pressed=${filters.includes(key)}
          onClick=${() => toggle(key)}>
          ${label}</button>`,
      )}
    </div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!tools && !failure && html`<${Loading} what="Loading tools" />`}
    ${
      tools &&
      html`<div class="count"><span role="status">
          ${countOf(hits.length, tools.length)}${
            result ? html`<span title="Ranked as in the agent's search"> · agent's ranking</span>` : ""
          }</span>
        ${
          config.gateway && hits.length > 0 && hits.length < tools.length && html`<${BulkSwitch} hits=${hits} />`
        }</div>`
    }
    <div class="rows" ref=${list}>
      ${
        tools?.length === 0 &&
        html`<${Empty} title="No tools yet">Add a server or a pack to the configuration, then reload.<//>`
      }
      ${
        tools &&
        tools.length > 0 &&
        !hits.length &&
        html`<${Empty} title="No matches">
          ${
            suggestions.length > 0
              ? html`Did you mean ${suggestions.map(
                  (name, at) => html`${at ? ", " : ""}<a href=${link("tools", name)}>${name}</a>`,
                )}?`
              : "Try fewer words, or clear the filters."
          }<//>`
      }
      ${
        isSearch
          ? html`<ul>
            ${shown.map(
              (hit) => html`<${ToolRow} key=${hit.tool.name} hit=${hit} isSelected=${hit.tool.name === selected}
                isSearch />`,
            )}</ul>`
          : html`<${ToolGroups} hits=${shown} all=${hits} selected=${selected} />`
      }
      ${
        hits.length > MAX_ROWS &&
        html`<p class="muted small pad">The first ${MAX_ROWS} are shown. Search to see others.</p>`
      }
    </div></nav>`;
}

/**
 * Describes how many tools are listed.
 * @param {number} hits
 * @param {number} all
 */
const countOf = (hits, all) => {
  if (hits === all) return `${numberOf(all)} tools`;
  return hits === MAX_ROWS ? `Best ${MAX_ROWS} of ${numberOf(all)}` : `${numberOf(hits)} of ${numberOf(all)} tools`;
};

/**
 * Shows a button that activates or deactivates all listed tools.
 * @param {{ hits: Hit[] }} props
 */
function BulkSwitch({ hits }) {
  const names = hits.map(({ tool }) => tool.name);
  const isAllActive = hits.every(({ tool }) => tool.active);
  return html`<button type="button" class="quiet" onClick=${() => setActive(names, !isAllActive)}>
    ${isAllActive ? "Deactivate" : "Activate"} ${names.length === 1 ? "it" : `all ${numberOf(names.length)}`}</button>`;
}
