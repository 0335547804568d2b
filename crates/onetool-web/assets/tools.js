// The tools: the ranked list, one tool with its form, and beside it the result and the request.

import { html, useEffect, useMemo, useRef, useState } from "./preact-htm.js";
import { cli, curl, flatName, initial, isRaw, masked, mcp, parse, python, read, stringify, typeOf } from "./data.js";
import { focusField, Form, JsonBox, placeErrors } from "./form.js";
import { announce, ask, Badge, base, bytesOf, config, CopyButton, Dialog, durationOf, Empty, get, getToken, go, hintsOf, isRunKey, link, Loading, numberOf, Problem, save, Segments, send, set, toolPath, useAsked, useStore, v1 } from "./shared.js";
import { HistoryList } from "./views.js";

// The list

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
  const asked = useStore((state) => state.route.values.get("pack"));
  useEffect(() => {
    if (asked !== null) setSource(asked);
  }, [asked]);
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
      <input id="search" type="search" placeholder="Search tools" aria-label="Search tools"
        aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false" value=${query} onInput=${(event) => type(event.target.value)} />
      ${!isSearch && html`<kbd aria-hidden="true">/</kbd>`}
    </div>
    <div class="filters">
      <select aria-label="Pack" value=${source} onChange=${(event) => setSource(event.target.value)}><option value="">All packs</option>
        ${sources.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
      ${config.gateway && html`<button type="button" class="chip" aria-pressed=${filters.includes("active")}
        onClick=${() => toggle("active")}>Active</button>`}
      ${FILTERS.map(([key, label]) => html`<button type="button" class="chip" key=${key} aria-pressed=${filters.includes(key)}
        onClick=${() => toggle(key)}>
        ${label}</button>`)}
    </div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!tools && !failure && html`<${Loading} what="Loading tools" />`}
    ${tools && html`<div class="count"><span role="status">
      ${countOf(hits.length, tools.length)}${answer ? html`<span title="Ranked as the agent's search ranks"> · agent's ranking</span>` : ""}</span>
      ${config.gateway && hits.length > 0 && hits.length < tools.length && html`<${Bulk} hits=${hits} />`}</div>`}
    <div class="rows" ref=${list}>
      ${tools?.length === 0 && html`<${Empty} title="No tools yet">Add a server or a pack to the configuration, then reload.<//>`}
      ${tools?.length > 0 && !hits.length && html`<${Empty} title="Nothing matches">
        ${suggestions.length > 0 ? html`Did you mean ${suggestions.map((name, at) => html`${at ? ", " : ""}<a href=${link("tools", name)}>
        ${name}</a>`)}?` : "Try fewer words, or clear the filters."}<//>`}
      ${isSearch ? html`<ul>
        ${shown.map((hit) => html`<${Row} key=${hit.tool.name} hit=${hit} isSelected=${hit.tool.name === selected} isSearch />`)}</ul>` : html`<${Groups} hits=${shown} all=${hits} selected=${selected} />`}
      ${hits.length > MAX_ROWS && html`<p class="muted small pad">The first ${MAX_ROWS} are shown. Search to see others.</p>`}
    </div></nav>`;
}

const countOf = (hits, all) => {
  if (hits === all) return `${numberOf(all)} tools`;
  return hits === MAX_ROWS ? `Best ${MAX_ROWS} of ${numberOf(all)}` : `${numberOf(hits)} of ${numberOf(all)} tools`;
};

function Bulk({ hits }) {
  const names = hits.map(({ tool }) => tool.name);
  const isAllActive = hits.every(({ tool }) => tool.active);
  return html`<button type="button" class="quiet" onClick=${() => setActive(names, !isAllActive)}>
    ${isAllActive ? "Deactivate" : "Activate"} ${names.length === 1 ? "it" : `all ${numberOf(names.length)}`}</button>`;
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
  return html`<li class=${isSelected ? "selected" : ""}>
    <a class="tool" href=${link("tools", tool.name)} aria-current=${isSelected ? "true" : undefined}>
      <span class="line"><span class="toolname">${isSearch || !packOf(tool) ? tool.name : tool.name.slice(packOf(tool).length + 1)}</span>
      ${tool.active && html`<span class="dot" title="Active: agents have it in their list"><span class="hidden">active</span></span>`}
      ${isSearch && score !== undefined ? html`<span class="score" title=${reasons}>
        ${score.toFixed(1)}</span>` : html`<${Badge} hint=${effect} />`}</span>
      <span class="about">${tool.description.split("\n")[0]}</span>
      ${isSearch && matched?.length > 0 && html`<span class="why">${matched.map(({ term, fields }) => html`<span key=${term}><b>
        ${term}</b> ${fields.join(", ")}</span>`)}</span>`}
    </a></li>`;
}

// The tool

const REMEMBERED = 100;

/** What was typed and what came back, per tool, for as long as the page is open. */
const drafts = new Map();

export function Tool({ name }) {
  const tools = useStore((state) => state.tools);
  const { data, failure, reload } = useAsked(async () => {
    const detail = config.gateway ? await v1(`tools/${encodeURIComponent(name)}`) : await ask(toolPath(name));
    return { ...detail, input_schema: detail.input_schema ?? detail.inputSchema ?? {} };
  }, [name]);
  if (failure && !data) return html`<main class="pane tool" id="main"><${Problem} failure=${failure} retry=${reload} /></main>`;
  if (!data || (data.name !== name && flatName(data.name) !== name)) return html`<main class="pane tool" id="main"><${Loading} /></main>`;
  const row = tools?.find((tool) => tool.name === data.name);
  return html`<${Workbench} key=${data.name} tool=${{ ...data, active: row?.active ?? data.active }} />`;
}

function startValue(tool, route) {
  const given = route.values.get("args");
  const linked = given === null ? undefined : read(given).value;
  return linked ?? drafts.get(tool.name)?.args ?? initial(tool.input_schema, tool.input_schema) ?? {};
}

function Workbench({ tool }) {
  const route = useStore((state) => state.route);
  const [args, setArgs] = useState(() => startValue(tool, route));
  const [mode, setMode] = useState("form");
  const [errors, setErrors] = useState([]);
  const [verdict, setVerdict] = useState();
  const [broken, setBroken] = useState();
  const [outcome, setOutcome] = useState(() => drafts.get(tool.name)?.outcome);
  const [tab, setTab] = useState("result");
  const [asking, setAsking] = useState(false);
  const running = useRef();
  const summary = useRef();
  const placed = useMemo(() => placeErrors(errors), [errors]);

  useEffect(() => {
    if (route.name === tool.name && route.values.has("args")) setArgs(startValue(tool, route));
  }, [route]);
  const finish = (done) => {
    drafts.set(tool.name, { args, ...drafts.get(tool.name), outcome: done });
    setOutcome(done);
  };
  useEffect(() => () => running.current?.abort(), []);

  const change = (next) => {
    // At once, not in an effect: whoever leaves right after a keystroke finds it again.
    drafts.set(tool.name, { ...drafts.get(tool.name), args: next ?? {} });
    setArgs(next ?? {});
    setVerdict(undefined);
  };
  const showErrors = (found) => {
    setErrors(found);
    setVerdict(found.length ? "invalid" : "valid");
    announce(found.length ? `${found.length} ${found.length === 1 ? "problem" : "problems"} found` : "The arguments are valid");
    if (found.length) setTimeout(() => summary.current?.focus());
  };
  const validate = async () => {
    if (broken) return false;
    try {
      const { status, text } = await send(toolPath(tool.name, "/validate"), { method: "POST", body: stringify(args) });
      const answer = read(text).value;
      showErrors(answer?.errors ?? (status === 200 ? [] : [{ path: "", message: answer?.error ?? `The server answered ${status}.` }]));
      return answer?.valid === true;
    } catch (failure) {
      setErrors([{ path: "", message: failure.message }]);
      return false;
    }
  };
  const run = async () => {
    setAsking(false);
    if (running.current) return;
    const stopping = new AbortController();
    running.current = stopping;
    setTab("result");
    setErrors([]);
    setVerdict(undefined);
    setOutcome({ since: performance.now() });
    const body = stringify(args);
    // Arguments that do not fit are told at their fields and never get to the call.
    const check = await perform(toolPath(tool.name, "/validate"), body, stopping.signal);
    const isAnswered = check.status === 200 && !check.errors;
    const done = isAnswered ? await perform(toolPath(tool.name, "/call"), body, stopping.signal) : check;
    running.current = undefined;
    if (done.errors) {
      finish(undefined);
      return showErrors(done.errors);
    }
    finish(done);
    announce(done.cancelled ? "Cancelled" : done.output ? (done.output.isError ? "The tool reports an error" : "Success") : "The call failed");
    if (!config.gateway && done.output) remember(tool, parse(body), done);
  };
  const start = () => {
    if (!config.allowExecute || broken || running.current) return;
    tool.annotations?.destructiveHint === true ? setAsking(true) : run();
  };
  const onKey = (event) => {
    if (!isRunKey(event)) return;
    event.preventDefault();
    config.allowExecute ? start() : validate();
  };
  const isRunning = outcome?.since !== undefined;
  const url = new URL(toolPath(tool.name, "/call"), base).href;

  return html`<main class="pane tool" id="main" onKeyDown=${onKey}>
      <a class="back" href="#/tools">All tools</a>
      <header><h1 tabindex="-1">${tool.name}</h1>
        <div class="badges">${hintsOf(tool.annotations).map((hint) => html`<${Badge} key=${hint.key} hint=${hint} />`)}</div></header>
      <p class="description">${tool.description}</p>
      ${tool.warnings?.length > 0 && html`<div class="notice bad"><p><strong>Be careful.</strong> ${tool.warnings.join(" ")}</p></div>`}
      ${config.gateway && html`<p class="facts"><span>from ${tool.source}</span><span>MCP name <code>${tool.flat_name}</code></span>
        <label class="check">
          <input type="checkbox" role="switch" checked=${tool.active}
            onChange=${(event) => setActive([tool.name], event.target.checked)} />active</label></p>`}
      ${tool.signature && html`<p class="signature"><code>${tool.signature}</code></p>`}
      <div class="row formhead"><h2>Arguments</h2><span class="grow"></span>
        <${Segments} label="Edit arguments as" options=${[["form", "Form"], ["json", "JSON"]]} value=${mode} onChange=${(next) => !broken && setMode(next)} />
        <button type="button" class="quiet" onClick=${() => { change(initial(tool.input_schema, tool.input_schema) ?? {}); setErrors([]); }}>Reset</button></div>
      ${errors.length > 0 && html`<div class="notice bad" role="alert" tabindex="-1" ref=${summary}><p><strong>
        ${errors.length === 1 ? "One thing does" : `${errors.length} things do`} not fit.</strong></p>
        <ul>${[...placed].map(([path, messages]) => html`<li key=${path}>
          <button type="button" class="link" onClick=${() => { setMode("form"); setTimeout(() => focusField(path)); }}><code>
          ${path || "arguments"}</code></button> ${messages.join(". ")}</li>`)}</ul></div>`}
      <form class="form" novalidate onSubmit=${(event) => { event.preventDefault(); start(); }}>
        ${mode === "form" ? html`<${Form} schema=${tool.input_schema} value=${args} errors=${placed} onChange=${change} />` : html`<${JsonBox}
          value=${args} rows=${12} control=${{ id: "json-args", "aria-label": "Arguments as JSON" }} onState=${setBroken} refuse=${notAnObject}
          onChange=${change} />`}
        <div class="actions">${config.allowExecute
          ? isRunning
            ? html`<button key="cancel" type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
            : html`<button key="run" type="submit" class="primary" disabled=${Boolean(broken)} aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd>
              </button>`
          : html`<p class="muted off">${config.executeHint}</p>`}
          <button type="button" onClick=${validate} disabled=${Boolean(broken)}>Validate</button>
          ${verdict === "valid" && html`<span class="good" role="status">✓ Valid</span>`}</div>
      </form>
      ${asking && html`<${Dialog} title="Run a destructive tool?" confirm="Run it" danger onConfirm=${run} onCancel=${() => setAsking(false)}>
        <p><code>${tool.name}</code> says that it may destroy something. It runs with these arguments:</p><pre class="text">
        ${stringify(args, 2)}</pre><//>`}
    </main>
    <aside class="pane side" aria-label="Result and request">
      <${Segments} label="Show" options=${[["result", "Result"], ["request", "Request"], ["history", "History"]]} value=${tab} onChange=${setTab} />
      <div class="sidebody">
        ${tab === "result" && html`<${Outcome} outcome=${outcome} name=${flatName(tool.name)} empty=${html`<${Empty} title="No result yet">
          ${config.allowExecute ? "Run the tool to see here what an agent would get." : "Execution is off; the arguments can still be validated."}<//>`} />`}
        ${tab === "request" && html`<${Request} tool=${tool} args=${args} url=${url} />`}
        ${tab === "history" && html`<${HistoryList} tool=${tool.name} />`}
      </div></aside>`;
}

const notAnObject = (value) => (value === undefined || typeOf(value) === "object" ? undefined : "The arguments have to be a JSON object");

/** Sends a call and says how it ended: answered, refused, cancelled, or lost. */
export async function perform(path, body, signal) {
  const since = performance.now();
  try {
    const { status, text, ms } = await send(path, { method: "POST", body, signal });
    const answer = read(text).value;
    const output = Array.isArray(answer?.content) ? answer : undefined;
    const failure = { status, message: answer?.error ?? `The server answered ${status}.` };
    return { status, text, ms, output, errors: answer?.errors, failure };
  } catch (failure) {
    const ms = performance.now() - since;
    return failure.name === "AbortError" ? { cancelled: true, ms } : { status: 0, ms, failure };
  }
}

/** Without a gateway the page itself remembers, and forgets when it is closed. */
function remember(tool, args, { output, ms }) {
  const call = {
    id: crypto.randomUUID?.() ?? String(Math.random()),
    tool: tool.name,
    at_ms: Date.now() - ms,
    duration_ms: Math.round(ms),
    is_error: output.isError === true,
    surface: "page",
    pinned: false,
    arguments: masked(args, tool.input_schema, tool.input_schema),
    output,
  };
  set({ calls: [call, ...get().calls].slice(0, REMEMBERED) });
}

function Request({ tool, args, url }) {
  const [kind, setKind] = useState("curl");
  const [reveal, setReveal] = useState(false);
  const token = getToken();
  const text = {
    curl: () => curl(url, args, token, reveal),
    python: () => python(tool.name, args),
    mcp: () => mcp(tool.flat_name ?? flatName(tool.name), args),
    cli: () => cli(tool.name, args),
  }[kind]();
  const share = () => new URL(link("tools", tool.name, { args: stringify(args) }), location.href).href;
  return html`<div class="request">
    <${Segments} label="Copy as" options=${[["curl", "cURL"], ["python", "Python"], ["mcp", "MCP"], ["cli", "CLI"]]} value=${kind} onChange=${setKind} />
    <pre class="text" tabindex="0" role="group" aria-label="The call, written out">${text}</pre>
    <div class="row"><${CopyButton} text=${text} label=${`Copy as ${{ curl: "cURL", python: "Python", mcp: "MCP JSON", cli: "CLI" }[kind]}`} />
      <${CopyButton} text=${share} label="Copy link" />
    ${kind === "curl" && token && html`<label class="check">
      <input type="checkbox" checked=${reveal} onChange=${(event) => setReveal(event.target.checked)} />show the token</label>`}</div>
      </div>`;
}

// The result

const PLAIN_ABOVE = 50_000;
const CUT_ABOVE = 256_000;
const CHILDREN = 100;

/** Text, cut where it would stall the page. */
export function Plain({ text, name = "result.txt" }) {
  if (text.length <= CUT_ABOVE) return html`<pre class="text" tabindex="0">${text}</pre>`;
  return html`<div class="notice"><p>${bytesOf(text.length)} of text. The first ${bytesOf(PLAIN_ABOVE)} are shown.</p>
      <button type="button" onClick=${() => save(name, text)}>Save it all</button></div>
    <pre class="text" tabindex="0">${text.slice(0, PLAIN_ABOVE)}…</pre>`;
}

/** JSON as a tree whose branches are drawn when they are opened. */
export function Tree({ value }) {
  return html`<div class="tree" tabindex="0" role="group" aria-label="Data"><${Node} value=${value} isOpen /></div>`;
}

function Node({ name, value, isOpen = false }) {
  const [open, setOpen] = useState(isOpen);
  const [limit, setLimit] = useState(CHILDREN);
  const label = name === undefined ? "" : html`<span class="key">${name}</span>: `;
  const type = isRaw(value) ? "integer" : typeOf(value);
  if (type !== "object" && type !== "array") return html`<div class="leaf">${label}<span class=${`value ${type}`}>${stringify(value)}</span>
    </div>`;
  const entries = Object.entries(value);
  const size = type === "array" ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return html`<div class="leaf">${label}<span class="value">${type === "array" ? "[]" : "{}"}</span></div>`;
  return html`<div class="branch"><button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>
    <span class="turn" aria-hidden="true">▸</span>${label}<span class="muted">${size}</span></button>
    ${open && html`<div class="children">
      ${entries.slice(0, limit).map(([key, part]) => html`<${Node} key=${key} name=${key}
        value=${part} isOpen=${entries.length <= 8 && name === undefined} />`)}
      ${entries.length > limit && html`<button type="button" class="quiet" onClick=${() => setLimit(limit + 1000)}>
        ${numberOf(entries.length - limit)} more</button>`}</div>`}</div>`;
}

const isType = (type, kind) => typeof type === "string" && new RegExp(`^${kind}/[a-z0-9.+-]+$`, "i").test(type);
const isBase64 = (data) => typeof data === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data.slice(0, 4096) + data.slice(-4));
const bytesFrom = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));

/** One block of content. Only data of a known type becomes an element; everything else stays text. */
export function Block({ block }) {
  switch (block?.type) {
    case "text":
      return html`<${TextBlock} text=${String(block.text)} />`;
    case "image":
      if (isType(block.mimeType, "image") && isBase64(block.data))
        return html`<figure><img src=${`data:${block.mimeType};base64,${block.data}`} alt=${`Picture from the tool, ${block.mimeType}`} />
          <figcaption>${block.mimeType} · ${bytesOf(block.data.length * 0.75)}
          <button type="button" class="quiet" onClick=${() => save("picture", bytesFrom(block.data), block.mimeType)}>Save</button>
            </figcaption></figure>`;
      break;
    case "audio":
      if (isType(block.mimeType, "audio") && isBase64(block.data))
        return html`<figure><audio controls src=${`data:${block.mimeType};base64,${block.data}`}></audio><figcaption>
          ${block.mimeType}</figcaption></figure>`;
      break;
    case "resource_link":
      return html`<div class="resource"><strong>${block.name}</strong> ${block.mimeType && html`<span class="muted">
        ${block.mimeType}</span>`}<code>${block.uri}</code>${block.description && html`<p>
        ${block.description}</p>`}<${CopyButton} text=${String(block.uri)} label="Copy address" /></div>`;
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource ?? {};
      return html`<div class="resource"><code>${uri}</code> ${mimeType && html`<span class="muted">${mimeType}</span>`}
        ${text !== undefined && html`<${TextBlock} text=${String(text)} />`}
        ${isBase64(blob) && html`<button type="button"
          onClick=${() => save("resource", bytesFrom(blob), "application/octet-stream")}>Save ${bytesOf(Math.floor(blob.length * 0.75))}</button>`}</div>`;
    }
  }
  return html`<${Plain} text=${stringify(block, 2)} />`;
}

function TextBlock({ text }) {
  const isJson = text.length <= PLAIN_ABOVE && /^\s*[[{]/.test(text);
  const parsed = isJson ? read(text) : {};
  const [asTree, setAsTree] = useState(true);
  if (!isJson || parsed.error) return html`<${Plain} text=${text} />`;
  return html`<div><button type="button" class="quiet" onClick=${() => setAsTree(!asTree)}>${asTree ? "As text" : "As tree"}</button>
    ${asTree ? html`<${Tree} value=${parsed.value} />` : html`<${Plain} text=${text} />`}</div>`;
}

/** Tells whether an answer stands for a result that was stored because it is large. */
const isStored = (data) => typeOf(data) === "object" && typeof data.handle === "string" && typeof data.total_lines === "number" && Array.isArray(data.preview);

/** Finds what `run` says of a stored result: one line of JSON, after the reason where the run failed. */
const storedIn = ({ structuredContent, content }) => {
  if (isStored(structuredContent)) return structuredContent;
  const lines = content?.length === 1 && content[0].type === "text" ? String(content[0].text).slice(-PLAIN_ABOVE).split("\n") : [];
  const last = lines.findLast((line) => line.startsWith('{"handle":'));
  const data = last && read(last).value;
  return isStored(data) ? data : undefined;
};

export function Output({ output }) {
  const data = storedIn(output) ?? output.structuredContent;
  if (isStored(data))
    return html`<div class="notice stored"><p><strong>
      ${numberOf(data.total_lines)} lines</strong>, ${bytesOf(data.size_bytes)}. The result was stored, so that it does not fill the context.</p>
        ${config.gateway && html`<a class="button" href=${link("results", data.handle)}>Read it</a>`}</div>
          <${Plain} text=${data.preview.join("\n")} />`;
  const blocks = Array.isArray(output.content) ? output.content : [];
  const isSame = data !== undefined && blocks.length === 1 && blocks[0].type === "text" && stringify(read(blocks[0].text).value) === stringify(data);
  return html`${data !== undefined && html`<${Tree} value=${data} />`}
    ${!isSame && blocks.map((block, at) => html`<${Block} key=${at} block=${block} />`)}
    ${data === undefined && !blocks.length && html`<p class="muted">The tool answered without content.</p>`}`;
}

function Elapsed({ since }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="clock">${durationOf(performance.now() - since)}</span>`;
}

const headline = ({ cancelled, failure, output, status }) => {
  if (cancelled) return ["plain", "Cancelled"];
  if (!status) return ["bad", "No answer"];
  if (output) return output.isError ? ["bad", "The tool reports an error"] : ["good", "Success"];
  return ["bad", failure?.status === 401 ? "Not allowed in" : "Refused"];
};

/** The outcome of a call: under way, answered, refused, or lost. */
export function Outcome({ outcome, name = "result", empty }) {
  const [view, setView] = useState("content");
  if (!outcome) return empty;
  if (outcome.since !== undefined) return html`<div class="running" role="status"><span class="pulse" aria-hidden="true">
    </span>Running <${Elapsed} since=${outcome.since} /></div>`;
  const [tone, words] = headline(outcome);
  const { output, text, status, ms, failure } = outcome;
  const trace = output?._meta?._trace_id;
  const body = output ? text : (failure?.message ?? "");
  return html`<div class="outcome">
    <div class=${`verdict ${tone}`}><strong>${words}</strong><span>${durationOf(ms)}</span>
      ${status > 0 && html`<span>HTTP ${status}</span>`}${text && html`<span>${bytesOf(text.length)}</span>`}
      ${trace && html`<span class="trace" title="Trace id">${trace}</span>`}</div>
    ${!output && html`<p class="failure">${outcome.cancelled ? "The request was closed, which stops the tool." : body}</p>`}
    ${output && html`<div class="row tools">
      <${Segments} label="Show the result as" options=${[["content", "Content"], ["raw", "Raw"]]} value=${view} onChange=${setView} />
      <span class="grow"></span><${CopyButton} text=${text} />
        <button type="button" class="quiet" onClick=${() => save(`${name}.json`, text, "application/json")}>Save</button></div>
      ${view === "raw" ? html`<${Plain} text=${text.length <= CUT_ABOVE ? stringify(read(text).value ?? text, 2) : text} name=${`${name}.json`} />` : html`<${Output} output=${output} />`}`}</div>`;
}
