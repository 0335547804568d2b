// The ranked list of tools, with search, filters, groups and active marks.

import { html, useEffect, useMemo, useRef, useState } from "./preact-htm.js";
import { announce, Badge, config, Empty, get, go, hintsOf, link, Loading, numberOf, Problem, set, useStore, v1 } from "./shared.js";

const MAX_ROWS = 200;
/** While somebody types, only as many as fit on a screen. */
const FIRST_ROWS = 40;
const DEBOUNCE_MS = 80;

const FILTERS = [
  ["readOnlyHint", "Read-only"],
  ["destructiveHint", "Destructive"],
];

export const packOf = (tool) => tool.pack ?? (tool.name.includes(".") ? tool.name.split(".")[0] : "");

const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** Ranks in the page itself, for the moment before the server answers, and where there is no gateway. */
export function rankLocally(tools, query) {
  const terms = words(query);
  if (!terms.length) return tools.map((tool) => ({ tool }));
  const hits = [];
  for (const tool of tools) {
    const name = tool.name.toLowerCase();
    const about = tool.description.toLowerCase();
    let score = 0;
    const matched = [];
    for (const term of terms) {
      const fields = [];
      if (name.includes(term)) fields.push("name");
      if (about.includes(term)) fields.push("description");
      if (fields.length) matched.push({ term, fields });
      score += (fields.includes("name") ? (name.startsWith(term) || name.includes(`.${term}`) ? 4 : 3) : 0) + (fields.includes("description") ? 1 : 0);
    }
    if (matched.length === terms.length) hits.push({ tool, points: score, matched });
  }
  return hits.sort((left, right) => right.points - left.points || left.tool.name.localeCompare(right.tool.name));
}

/** Names that share most of their letter pairs with the query. */
export function nearNames(tools, query) {
  const pairs = (text) => new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
  const wanted = pairs(query.toLowerCase().replace(/[\s_.]/g, ""));
  const score = (name) => {
    const held = pairs(name.toLowerCase().replace(/[\s_.]/g, ""));
    const shared = [...wanted].filter((pair) => held.has(pair)).length;
    return (2 * shared) / (wanted.size + held.size || 1);
  };
  const scored = tools.map(({ name }) => [score(name), name]).filter(([points]) => points > 0.3);
  return scored.sort((left, right) => right[0] - left[0]).slice(0, 3).map(([, name]) => name);
}

/** Asks the gateway a moment after the last keystroke. */
function useServerSearch(query, tools) {
  const [answer, setAnswer] = useState();
  useEffect(() => {
    if (!config.gateway || !query.trim()) return setAnswer(undefined);
    const stopping = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setAnswer({ query, ...(await v1("search", { q: query, limit: MAX_ROWS }, { signal: stopping.signal })) });
      } catch (failure) {
        if (failure.name !== "AbortError") setAnswer(undefined);
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [query, tools]);
  return answer?.query === query ? answer : undefined;
}

export async function setActive(names, active) {
  const chosen = new Set(names);
  const mark = (tools) => tools.map((tool) => (chosen.has(tool.name) ? { ...tool, active } : tool));
  set({ tools: mark(get().tools) });
  try {
    await v1("active", {}, { method: "PUT", body: { names, active } });
    announce(`${names.length === 1 ? names[0] : `${names.length} tools`} ${active ? "active" : "inactive"}`);
  } catch (failure) {
    set({ tools: get().tools.map((tool) => (chosen.has(tool.name) ? { ...tool, active: !active } : tool)) });
    announce(failure.message);
  }
}

export function ToolList({ selected, reload }) {
  const tools = useStore((state) => state.tools);
  const failure = useStore((state) => state.failure);
  const [query, setQuery] = useState("");
  const [source, setSource] = useState("");
  const [filters, setFilters] = useState([]);
  const [limit, setLimit] = useState(MAX_ROWS);
  const list = useRef();
  const answer = useServerSearch(query, tools);
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
    const ranked = answer ? answer.hits.map((hit) => ({ ...hit, tool: byName.get(hit.name) })).filter((hit) => hit.tool) : rankLocally(tools, query);
    return ranked.filter(({ tool }) => {
      if (source && packOf(tool) !== source) return false;
      return filters.every((filter) => (filter === "active" ? tool.active : tool.annotations?.[filter] === true));
    });
  }, [tools, query, answer, source, filters]);
  const shown = hits.slice(0, limit);
  const isSearch = query.trim() !== "";
  const suggestions = hits.length || !tools ? [] : (answer?.suggestions ?? nearNames(tools, query));
  const toggle = (filter) => setFilters(filters.includes(filter) ? filters.filter((it) => it !== filter) : [...filters, filter]);

  const onKey = (event) => {
    const links = [...list.current.querySelectorAll("a.tool")];
    const at = links.indexOf(document.activeElement);
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
      <input id="search" type="search" placeholder="Search tools" aria-label="Search tools" aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false" value=${query} onInput=${(event) => type(event.target.value)} />
      ${!isSearch && html`<kbd aria-hidden="true">/</kbd>`}
    </div>
    <div class="filters">
      <select aria-label="Pack" value=${source} onChange=${(event) => setSource(event.target.value)}><option value="">All packs</option>${sources.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
      ${config.gateway && html`<button type="button" class="chip" aria-pressed=${filters.includes("active")} onClick=${() => toggle("active")}>Active</button>`}
      ${FILTERS.map(([key, label]) => html`<button type="button" class="chip" key=${key} aria-pressed=${filters.includes(key)} onClick=${() => toggle(key)}>${label}</button>`)}
    </div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!tools && !failure && html`<${Loading} what="Loading tools" />`}
    ${tools && html`<div class="count"><span role="status">${hits.length === tools.length ? `${numberOf(tools.length)} tools` : `${numberOf(hits.length)} of ${numberOf(tools.length)} tools`}${answer ? html`<span class="muted" title="Ranked as the agent's search ranks"> · as the agent sees it</span>` : ""}</span>
      ${config.gateway && hits.length > 0 && html`<${Bulk} hits=${hits} />`}</div>`}
    <div class="rows" ref=${list}>
      ${tools?.length === 0 && html`<${Empty} title="No tools yet">Add a server or a pack to the configuration, then reload.<//>`}
      ${tools?.length > 0 && !hits.length && html`<${Empty} title="Nothing matches">${suggestions.length > 0 ? html`Did you mean ${suggestions.map((name, at) => html`${at ? ", " : ""}<a href=${link("tools", name)}>${name}</a>`)}?` : "Try fewer words, or clear the filters."}<//>`}
      ${isSearch ? html`<ul>${shown.map((hit) => html`<${Row} key=${hit.tool.name} hit=${hit} isSelected=${hit.tool.name === selected} isSearch />`)}</ul>` : html`<${Groups} hits=${shown} all=${hits} selected=${selected} />`}
      ${hits.length > MAX_ROWS && html`<p class="muted small pad">The first ${MAX_ROWS} are shown. Search to see others.</p>`}
    </div></nav>`;
}

function Bulk({ hits }) {
  const names = hits.map(({ tool }) => tool.name);
  const isAllActive = hits.every(({ tool }) => tool.active);
  return html`<button type="button" class="quiet" onClick=${() => setActive(names, !isAllActive)}>${isAllActive ? "Deactivate" : "Activate"} ${names.length === 1 ? "it" : `all ${numberOf(names.length)}`}</button>`;
}

function Groups({ hits, all, selected }) {
  const counts = useMemo(() => {
    const counts = new Map();
    for (const { tool } of all) counts.set(packOf(tool), (counts.get(packOf(tool)) ?? 0) + 1);
    return counts;
  }, [all]);
  const groups = useMemo(() => Object.entries(Object.groupBy(hits, ({ tool }) => packOf(tool))), [hits]);
  return groups.map(([pack, members]) => html`<section key=${pack} aria-label=${pack || "Without a pack"}>
    <h2 class="pack">${pack || "no pack"} <span>${numberOf(counts.get(pack))}</span></h2>
    <ul>${members.map((hit) => html`<${Row} key=${hit.tool.name} hit=${hit} isSelected=${hit.tool.name === selected} />`)}</ul></section>`);
}

function Row({ hit, isSelected, isSearch }) {
  const { tool, score, matched } = hit;
  const hints = hintsOf(tool.annotations);
  const effect = hints.find(({ key, said, value }) => key === "destructiveHint" && said && value) ?? hints[0];
  const reasons = (matched ?? []).map(({ term, fields }) => `${term} in ${fields.join(", ")}`).join("; ");
  return html`<li class=${isSelected ? "selected" : ""}><a class="tool" href=${link("tools", tool.name)} aria-current=${isSelected ? "true" : undefined}>
      <span class="line"><span class="toolname">${isSearch || !packOf(tool) ? tool.name : tool.name.slice(packOf(tool).length + 1)}</span>
      ${tool.active && html`<span class="dot" title="Active: agents have it in their list"><span class="hidden">active</span></span>`}
      ${isSearch && score !== undefined ? html`<span class="score" title=${reasons}>${score.toFixed(1)}</span>` : html`<${Badge} hint=${effect} />`}</span>
      <span class="about">${tool.description.split("\n")[0]}</span>
      ${isSearch && matched?.length > 0 && html`<span class="why">${matched.map(({ term, fields }) => html`<span key=${term}><b>${term}</b> ${fields.join(", ")}</span>`)}</span>`}
    </a></li>`;
}
