// What stands beside the tools: servers, the console, stored results, history, statistics.

import { html, useEffect, useRef, useState } from "./preact-htm.js";
import { stringify, withoutMasks } from "./data.js";
import { agoOf, announce, bytesOf, config, durationOf, Empty, get, isRunKey, link, Loading, numberOf, Problem, save, Segments, set, timeOf, useAsked, useStore, v1 } from "./shared.js";
import { Outcome, Output, packOf, perform, setActive } from "./tools.js";

// Servers

/** Puts a server that changed in its place. */
export function updateServer(server) {
  const servers = get().servers;
  const isKnown = servers.some(({ name }) => name === server.name);
  set({ servers: isKnown ? servers.map((it) => (it.name === server.name ? server : it)) : [...servers, server] });
}

export const loadServers = async () => set({ servers: await v1("servers") });

/** What there is to read of a server, by how it is reached. */
const LOGS = { stdio: "Log", openapi: "Notes" };

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
    <div class="cards">${servers.map((server) => html`<${Server} key=${server.name} server=${server} isOpen=${server.name === name} />`)}</div>
      </main>`;
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
      updateServer(server);
      setProblem(failure);
    }
    setBusy(false);
  };
  const toggle = (event) => {
    const enabled = event.target.checked;
    updateServer({ ...server, enabled });
    change("enabled", { method: "PUT", body: { enabled } });
  };
  const state = stateOf(server);
  return html`<section class=${`card ${state}`} aria-label=${server.name} data-server=${server.name}>
    <div class="row"><h2><a href=${link("servers", server.name)}>${server.name}</a></h2>
      <span class=${`state ${{ healthy: "good", degraded: "warn", unhealthy: "bad" }[state] ?? ""}`}>${state}</span><span class="grow">
      </span>
      <label class="check">
        <input type="checkbox" role="switch" checked=${server.enabled} disabled=${busy} onChange=${toggle} />on</label></div>
    <dl><dt>Transport</dt><dd>${server.transport}</dd><dt>Tools</dt><dd>${numberOf(server.tool_count)}</dd><dt>Since</dt><dd>
      ${agoOf(server.since_ms)}</dd></dl>
    ${server.enabled && server.reason && html`<p class="reason"><strong>${server.reason}.</strong> ${server.next_action}</p>`}
    ${server.last_error && server.last_error !== server.reason && html`<p class="muted small">Last error: ${server.last_error}</p>`}
    ${problem && html`<${Problem} failure=${problem} />`}
    <div class="row"><button type="button" disabled=${busy || !server.enabled} onClick=${() => change("reconnect", { method: "POST" })}>Reconnect</button>
      <button type="button" disabled=${!names.length} onClick=${() => setActive(names.map((tool) => tool.name), !isAllActive)}>
        ${isAllActive ? "Deactivate" : "Activate"} tools</button>
      ${LOGS[server.transport] && html`<a class="button quiet" href=${isOpen ? link("servers") : link("servers", server.name)} aria-expanded=${isOpen}>${LOGS[server.transport]}</a>`}</div>
    ${isOpen && html`<${Log} name=${server.name} />`}</section>`;
}

function Log({ name }) {
  const { data, failure, reload } = useAsked(() => v1(`servers/${encodeURIComponent(name)}/log`), [name]);
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  return html`<pre class="text" tabindex="0" role="group" aria-label="What it said">
    ${data?.lines.length ? data.lines.join("\n") : "It wrote nothing."}</pre>`;
}

// Console

let draft = { code: "", outcome: undefined };

export function ConsoleView() {
  const given = useStore((state) => state.route.values.get("code"));
  const hasRun = useStore((state) => state.overview?.run !== false);
  const [code, setCode] = useState(given ?? draft.code);
  const [outcome, setOutcome] = useState(draft.outcome);
  const [expansion, setExpansion] = useState();
  const running = useRef();
  const keep = (next) => {
    draft = { ...draft, ...next };
  };
  const run = async () => {
    if (running.current || !code.trim() || !config.allowExecute) return;
    const stopping = new AbortController();
    running.current = stopping;
    setOutcome({ since: performance.now() });
    const done = await perform("api/v1/run", stringify({ command: code }), stopping.signal);
    running.current = undefined;
    keep({ outcome: done });
    setOutcome(done);
    announce(done.output && !done.output.isError ? "Success" : "The run ended without success");
  };
  const expand = async () => {
    try {
      setExpansion(await v1("expand", {}, { method: "POST", body: { command: code } }));
    } catch (failure) {
      setExpansion({ failure });
    }
  };
  const edit = (next) => {
    setCode(next);
    setExpansion(undefined);
    keep({ code: next });
  };
  const onKey = (event) => {
    if (!isRunKey(event)) return;
    event.preventDefault();
    run();
  };
  useEffect(() => {
    if (given !== null) edit(given);
  }, [given]);
  const isRunning = outcome?.since !== undefined;
  return html`<main class="page console" id="main"><div class="editor"><h1 tabindex="-1">Run</h1>
      <p class="muted">Python in a sandbox, where every tool is a function: <code>brave.search(query="rust")</code></p>
      ${!hasRun && html`<div class="notice"><p>This onetool runs no code: it was built or started without Python.</p></div>`}
      <label class="hidden" for="code">Code</label>
        <textarea id="code" class="code" rows="8" spellcheck="false" autocapitalize="off" placeholder=${'results = brave.search(query="rust", count=3)\nresults'} value=${code} onInput=${(event) => edit(event.target.value)} onKeyDown=${onKey}>
        </textarea>
      <div class="actions">${config.allowExecute
        ? isRunning
          ? html`<button type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
          : html`<button type="button" class="primary" disabled=${!code.trim()} onClick=${run} aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd>
            </button>`
        : html`<p class="muted off">${config.executeHint}</p>`}
        ${code.trim().startsWith("$") && html`<button type="button" onClick=${expand}>Expand</button>`}</div>
      ${expansion?.failure && html`<${Problem} failure=${expansion.failure} />`}
      ${expansion?.code !== undefined && html`<section aria-label="Expansion"><h2>Expands to</h2><pre class="text" tabindex="0">
        ${expansion.code}</pre></section>`}
      <section aria-label="Output">
        <${Outcome} outcome=${outcome} name="run" empty=${html`<${Empty} title="No output yet">The value of the last line is the result.<//>`} />
        </section></div>
    <${ShortcutList} onPick=${edit} /></main>`;
}

function ShortcutList({ onPick }) {
  const { data, failure, reload } = useAsked(() => v1("shortcuts"), []);
  const { data: packs } = useAsked(() => v1("packs"), []);
  if (failure) return html`<aside class="shortcuts"><${Problem} failure=${failure} retry=${reload} /></aside>`;
  const group = (title, items, draw) => html`<section><h2>${title}</h2>${items?.length ? html`<ul>
    ${items.map(draw)}</ul>` : html`<p class="muted small">None.</p>`}</section>`;
  return html`<aside class="shortcuts" aria-label="Shortcuts">
    ${group("Snippets", data?.snippets, (snippet) => html`<li key=${snippet.name}>
      <button type="button" class="link" onClick=${() => onPick(snippet.example)}>$${snippet.name}</button><p class="muted small">
      ${snippet.description}</p></li>`)}
    ${group("Aliases", data?.aliases, ({ name, target }) => html`<li key=${name}><code>${name}</code> → <a href=${link("tools", target)}>
      ${target}</a></li>`)}
    ${group("Prompts", data?.prompts, ({ name, description, arguments: names }) => html`<li key=${name}><code>
      ${name}(${names.join(", ")})</code><p class="muted small">${description}</p></li>`)}
    ${group("Packs", packs, ({ name, tool_count: count, instructions }) => html`<li key=${name} title=${instructions}><code>
      ${name}</code> <span class="muted small">${count}</span></li>`)}</aside>`;
}

// Stored results

const PAGE = 100;

export function ResultsView({ handle }) {
  const finished = useStore((state) => state.finished);
  const { data, failure, reload } = useAsked(() => v1("results"), [finished, handle]);
  if (handle) return html`<${Reader} key=${handle} handle=${handle} info=${data?.find((info) => info.handle === handle)} />`;
  return html`<main class="page" id="main"><h1 tabindex="-1">Stored results</h1>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data?.length === 0 && html`<${Empty} title="Nothing is stored">An answer that is too large for an agent's context is kept here for a while, to be read in pages.<//>`}
    ${data?.length > 0 && html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Stored results">
      <table class="second-left"><thead><tr><th scope="col">Handle</th><th scope="col">What</th><th scope="col">Lines</th>
      <th scope="col">Size</th><th scope="col">Stored</th><th scope="col">Can be read</th></tr></thead>
      <tbody>${data.map((info) => html`<tr key=${info.handle}><th scope="row"><a href=${link("results", info.handle)}>${info.handle}</a>
        </th><td>${kindOf(info)}</td><td>${numberOf(info.total_lines)}</td><td>${bytesOf(info.size_bytes)}</td><td>
        ${agoOf(info.created_at)}</td><td>${leftOf(info)}</td></tr>`)}</tbody></table></div></section>`}</main>`;
}

const leftOf = ({ expires_at: end }) => (end <= Date.now() ? "expired" : `for ${durationOf(end - Date.now())}`);
const kindOf = (info) => (info.is_json ? "data" : "text");

function Reader({ handle, info }) {
  const [offset, setOffset] = useState(1);
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [fuzzy, setFuzzy] = useState(false);
  const { data, failure, reload } = useAsked(() => v1(`results/${encodeURIComponent(handle)}`, { offset, limit: PAGE, search, fuzzy: fuzzy && search !== "" }), [handle, offset, search, fuzzy]);
  useEffect(() => {
    if (typed === search) return undefined;
    const timer = setTimeout(() => {
      setSearch(typed);
      setOffset(1);
    }, 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const isPattern = failure?.status === 400;
  const last = data ? data.offset + data.returned - 1 : 0;
  return html`<main class="page" id="main"><p><a href="#/results">Stored results</a></p><h1 tabindex="-1">${handle}</h1>
    <p class="muted">${info ? `${kindOf(info)} · ${numberOf(info.total_lines)} lines · ${bytesOf(info.size_bytes)} · can be read ${leftOf(info)}` : ""}</p>
    <div class="row"><label class="grow"><span class="hidden">Search in this result</span>
      <input type="search" placeholder=${fuzzy ? "Words to be like" : "Regular expression"} value=${typed} spellcheck="false" onInput=${(event) => setTyped(event.target.value)} aria-invalid=${isPattern ? "true" : undefined} /></label>
      <label class="check">
        <input type="checkbox" checked=${fuzzy} onChange=${(event) => { setFuzzy(event.target.checked); setOffset(1); }} />similar</label>
        </div>
    ${failure && html`<${Problem} failure=${failure} retry=${failure.status === 0 ? reload : undefined} />`}
    ${data && !failure && html`<p class="muted small" role="status">
      ${data.matches === undefined ? "" : `${numberOf(data.matches)} of ${numberOf(data.total_lines)} lines match. `}${data.returned ? `Showing ${numberOf(data.offset)}–${numberOf(last)}.` : "Nothing here."}</p>
      <pre class="text lines" tabindex="0" role="group" aria-label="Lines">
        ${data.lines.map((line, at) => html`<span class="numbered" key=${at}><span class="lineno">
        ${data.numbers?.[at] ?? data.offset + at}</span><${Marked} line=${line} marks=${data.marks?.[at]} /></span>`)}</pre>
      <div class="row"><button type="button" disabled=${offset <= 1} onClick=${() => setOffset(Math.max(1, offset - PAGE))}>Earlier</button>
        <button type="button" disabled=${!data.has_more} onClick=${() => setOffset(offset + PAGE)}>Later</button></div>`}</main>`;
}

function Marked({ line, marks = [] }) {
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(line.slice(at, start), html`<mark key=${start}>${line.slice(start, end)}</mark>`);
    at = end;
  }
  return html`${parts}${line.slice(at)}`;
}

// History

const listCalls = async (tool) => {
  if (config.gateway) return v1("history", { tool, limit: 100 });
  return get().calls.filter((call) => !tool || call.tool === tool);
};

const recordOf = async (id) => {
  if (config.gateway) return v1(`history/${encodeURIComponent(id)}`);
  return get().calls.find((call) => call.id === id);
};

async function pin(call) {
  if (config.gateway) await v1(`history/${encodeURIComponent(call.id)}/pinned`, {}, { method: "PUT", body: { pinned: !call.pinned } });
  else set({ calls: get().calls.map((it) => (it.id === call.id ? { ...it, pinned: !it.pinned } : it)) });
}

/** The calls of one tool, or of all. */
export function HistoryList({ tool }) {
  const finished = useStore((state) => state.finished);
  const calls = useStore((state) => state.calls);
  const { data, failure, reload } = useAsked(() => listCalls(tool), [tool, finished, calls]);
  const [open, setOpen] = useState();
  const [marked, setMarked] = useState([]);
  if (failure) return html`<${Problem} failure=${failure} retry=${reload} />`;
  if (!data) return html`<${Loading} />`;
  if (!data.length) return html`<${Empty} title="No calls yet">Every call from now on is listed here, with its arguments and its result.<//>`;
  const mark = (id) => setMarked(marked.includes(id) ? marked.filter((it) => it !== id) : [...marked, id].slice(-2));
  const sorted = [...data].sort((left, right) => Number(right.pinned) - Number(left.pinned));
  return html`${marked.length === 2 && html`<${Difference} ids=${marked} onClose=${() => setMarked([])} />`}
    <ul class="calls">${sorted.map((call) => html`<li key=${call.id}>
      <div class="call"><button type="button" class="link" aria-expanded=${open === call.id} onClick=${() => setOpen(open === call.id ? undefined : call.id)}>
          <span class=${`state ${call.is_error ? "bad" : "good"}`}>${call.is_error ? "failed" : "fine"}</span>${!tool && html`<code>
            ${call.tool}</code>`}<span title=${timeOf(call.at_ms)}>${agoOf(call.at_ms)}</span><span class="muted">
            ${durationOf(call.duration_ms)}</span><span class="muted">${call.surface}</span></button>
        <label class="check">
          <input type="checkbox" aria-label=${`Compare the call of ${timeOf(call.at_ms)}`} checked=${marked.includes(call.id)}
            onChange=${() => mark(call.id)} />compare</label>
        <button type="button" class="quiet" aria-pressed=${call.pinned} onClick=${async () => { await pin(call); reload(); }}>
          ${call.pinned ? "Pinned" : "Pin"}</button></div>
      ${open === call.id && html`<${Details} id=${call.id} />`}</li>`)}</ul>`;
}

function Details({ id }) {
  const { data, failure } = useAsked(() => recordOf(id), [id]);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  return html`<div class="details"><h2>Arguments</h2><pre class="text" tabindex="0">${stringify(data.arguments, 2)}</pre>
    <a class="button" href=${again(data)}>Edit and run again</a>
    <h2>Result</h2><${Output} output=${data.output} /></div>`;
}

const again = ({ tool, arguments: args }) =>
  tool === "run" ? link("run", undefined, { code: args.command }) : link("tools", tool, { args: stringify(withoutMasks(args)) });

const textOf = (output) => {
  const blocks = (output.content ?? []).map((block) => (block.type === "text" ? block.text : stringify(block, 2)));
  return output.structuredContent === undefined ? blocks.join("\n") : stringify(output.structuredContent, 2);
};

function Difference({ ids, onClose }) {
  const { data, failure } = useAsked(() => Promise.all(ids.map(recordOf)), ids);
  if (failure) return html`<${Problem} failure=${failure} />`;
  if (!data) return html`<${Loading} />`;
  const [older, newer] = [...data].sort((left, right) => left.at_ms - right.at_ms);
  const lines = diffLines(textOf(older.output), textOf(newer.output));
  const isSame = lines.every(({ sign }) => sign === " ");
  return html`<section class="diff" aria-label="Difference of two results"><div class="row"><h2>
    ${timeOf(older.at_ms)} → ${timeOf(newer.at_ms)}</h2><span class="grow"></span>
    <button type="button" class="quiet" onClick=${onClose}>Close</button></div>
    ${isSame ? html`<p class="muted">The two results are the same.</p>` : html`<pre class="text" tabindex="0">
      ${lines.map(({ sign, text }, at) => html`<span key=${at} class=${{ "+": "added", "-": "removed", " ": "" }[sign]}>
      ${sign} ${text}</span>`)}</pre>`}</section>`;
}

export function HistoryView() {
  const overview = useStore((state) => state.overview);
  const [round, setRound] = useState(0);
  const isOn = overview?.history ?? true;
  const exportAll = async () => {
    const calls = await listCalls();
    save("history.json", stringify(await Promise.all(calls.map((call) => recordOf(call.id))), 2), "application/json");
  };
  const clear = async () => {
    if (config.gateway) await v1("history", {}, { method: "DELETE" });
    else set({ calls: get().calls.filter((call) => call.pinned) });
    announce("Cleared, but for pinned calls");
    setRound(round + 1);
  };
  const toggle = async (event) => {
    const enabled = event.target.checked;
    set({ overview: { ...overview, history: enabled } });
    await v1("history", {}, { method: "PUT", body: { enabled } }).catch(() => set({ overview }));
  };
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">History</h1><span class="grow"></span>
      ${config.gateway && html`<label class="check">
        <input type="checkbox" role="switch" checked=${isOn} onChange=${toggle} />remember calls</label>`}
      <button type="button" onClick=${exportAll}>Export JSON</button><button type="button" onClick=${clear}>Clear</button></div>
    ${!isOn && html`<div class="notice"><p>Calls are not remembered now.</p></div>`}
    <${HistoryList} key=${round} /></main>`;
}

// Differences

const MAX_LINES = 2000;

/** Returns lines with a sign: `+` added, `-` removed, or a space. */
export function diffLines(before, after) {
  const left = before.split("\n").slice(0, MAX_LINES);
  const right = after.split("\n").slice(0, MAX_LINES);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const same = (lines) => lines.map((text) => ({ sign: " ", text }));
  const middle = between(left.slice(start, left.length - end), right.slice(start, right.length - end));
  return [...same(left.slice(0, start)), ...middle, ...same(left.slice(left.length - end))];
}

/** The longest common subsequence, for what differs at both ends. */
function between(left, right) {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = left[i] === right[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ sign: " ", text: left[i] });
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push({ sign: "-", text: left[i] });
      i += 1;
    } else {
      lines.push({ sign: "+", text: right[j] });
      j += 1;
    }
  }
  return lines;
}

// The first thing to see

/** Our own pack is the last that somebody comes for. */
const isOwn = (pack) => Number(pack === "ot");

/** What is at hand and what it has been good for, before a tool is chosen. */
export function Welcome() {
  const tools = useStore((state) => state.tools);
  const servers = useStore((state) => state.servers);
  const finished = useStore((state) => state.finished);
  const { data: packs } = useAsked(() => v1("packs"), [tools]);
  const { data: stats } = useAsked(() => v1("stats", { period: "month" }).catch(() => undefined), [finished]);
  const healthy = servers.filter(({ enabled, health }) => enabled && health === "healthy").length;
  const wanted = servers.filter(({ enabled }) => enabled).length;
  const active = tools?.filter((tool) => tool.active).length;
  return html`<main class="pane welcome" id="main" tabindex="-1"><div class="stack">
    <p class="lead">Every tool your agents have. Find one as they do with <kbd>/</kbd>, see what it takes, try it, and read what it costs and saves.</p>
    <div class="tiles">
      <${Tile} label="Tools" value=${numberOf(tools?.length)}>${numberOf(active)} active in every session<//>
      <${Tile} label="Servers and APIs" value=${wanted ? `${healthy} / ${wanted}` : "–"}>
        ${wanted ? (healthy === wanted ? "all are healthy" : html`<a href="#/servers">${wanted - healthy} not healthy</a>`) : "none is configured"}<//>
      <${Tile} label="Calls, 30 days" value=${numberOf(stats?.total_calls)}>${stats ? `${percent(stats.success_rate)} succeeded` : "statistics are off"}<//>
      <${Tile} label="Context saved, 30 days" value=${stats?.total_calls ? numberOf(stats.context_saved) : "–"}>tokens that agents did not have to hold<//>
    </div>
    <h2>Packs</h2>
    <ul class="packs">${packs?.toSorted((left, right) => isOwn(left.name) - isOwn(right.name)).map(({ name, source, tool_count: count, instructions }) => html`<li key=${name}>
      <a class="card" href=${link("tools", undefined, { pack: name })}><span class="row"><strong>${name}</strong><span class="grow"></span>
      <span class="badge">${source}</span></span><span class="muted small">${numberOf(count)} ${count === 1 ? "tool" : "tools"}</span>
      ${instructions && html`<span class="about small">${instructions.split("\n")[0]}</span>`}</a></li>`)}</ul></div></main>`;
}

// Statistics

const PERIODS = [["day", "Day"], ["week", "Week"], ["month", "Month"], ["all", "All"]];
const COLUMNS = [
  ["tool", "Tool"],
  ["calls", "Calls"],
  ["success_rate", "Success"],
  ["avg_ms", "Average"],
  ["total_bytes", "Bytes"],
];

const percent = (rate) => (rate === undefined ? "–" : `${rate.toFixed(1)} %`);

export function StatsView() {
  const [period, setPeriod] = useState("month");
  const finished = useStore((state) => state.finished);
  const { data, failure, reload } = useAsked(() => v1("stats", { period }), [period, finished]);
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">Statistics</h1><span class="grow"></span>
    <${Segments} label="Period" options=${PERIODS} value=${period} onChange=${setPeriod} /></div>
    ${failure && html`<${Problem} failure=${failure} retry=${reload} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data && html`<${Report} report=${data} />`}</main>`;
}

function Tile({ label, value, children }) {
  return html`<div class="tile"><h2>${label}</h2><p class="figure">${value}</p><p class="muted small">${children}</p></div>`;
}

function Report({ report }) {
  const { context_saved_parts: context, time_saved_parts: time } = report;
  return html`<div class="tiles">
      <${Tile} label="Calls" value=${numberOf(report.total_calls)}>
        ${numberOf(report.runs.runs)} runs of code, ${numberOf(report.sessions)} sessions${report.dropped ? `; ${numberOf(report.dropped)} were not counted` : ""}<//>
      <${Tile} label="Success" value=${percent(report.success_rate)}>${report.total_calls ? "of all calls" : "nothing was called"}<//>
      <${Tile} label="Context saved" value=${report.total_calls ? `${numberOf(report.context_saved)}` : "–"}>tokens: ${numberOf(context.definitions_kept_out)} of definitions + ${numberOf(context.inner_results_kept_in)} of results − ${numberOf(context.own_cost)} of our own<//>
      <${Tile} label="Time saved" value=${report.total_calls ? durationOf(report.time_saved_ms) : "–"}>
        ${numberOf(time.inner_calls_beyond_first)} turns of ${durationOf(time.turn_ms)}<//></div>
    ${report.per_day.length > 0 && html`<${Days} days=${report.per_day} />`}
    ${report.tools.length > 0 ? html`<${Tools} tools=${report.tools} />` : html`<${Empty} title="Nothing in this period">Calls are counted as soon as an agent makes one.<//>`}`;
}

/** A bar for each day, and the same as a table. */
function Days({ days }) {
  const [asTable, setAsTable] = useState(false);
  const highest = Math.max(...days.map(({ calls }) => calls), 1);
  const step = 720 / days.length;
  const width = Math.min(step * 0.7, 40);
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  return html`<section class="card chart"><div class="row"><h2>Calls a day</h2><span class="grow"></span>
    <button type="button" class="quiet" aria-pressed=${asTable} onClick=${() => setAsTable(!asTable)}>As a table</button></div>
    ${asTable
      ? html`<div class="scroll" tabindex="0" role="region" aria-label="Calls a day"><table><thead><tr><th scope="col">Day</th>
        <th scope="col">Calls</th><th scope="col">Failed</th></tr></thead><tbody>${days.map(({ day, calls, failed }) => html`<tr key=${day}>
        <th scope="row">${day}</th><td>${numberOf(calls)}</td><td>${numberOf(failed)}</td></tr>`)}</tbody></table></div>`
      : html`<svg viewBox="0 0 720 160" role="img"
        aria-label=${`${numberOf(total)} calls from ${days[0].day} to ${days.at(-1).day}, at most ${highest} a day`}>
          <path class="axis" d="M0 140.5H720" />${days.map(({ day, calls, failed }, at) => {
            const x = at * step + (step - width) / 2;
            const height = (calls / highest) * 128;
            const bad = (failed / highest) * 128;
            return html`<g key=${day}><title>${day}: ${calls} calls, ${failed} failed</title>
              <rect class="fine" x=${x} y=${140 - height} width=${width} height=${height - bad} rx="2" />
              <rect class="failed" x=${x} y=${140 - bad} width=${width} height=${bad} /></g>`;
          })}<text x="0" y="156">${days[0].day}</text><text x="720" y="156" text-anchor="end">${days.at(-1).day}</text></svg>
        <p class="legend muted small"><span class="key fine"></span>fine<span class="key failed"></span>failed</p>`}</section>`;
}

function Tools({ tools }) {
  const [[column, isDown], setOrder] = useState(["calls", true]);
  const sorted = [...tools].sort((left, right) => {
    const [a, b] = [left[column] ?? -1, right[column] ?? -1];
    const order = typeof a === "string" ? a.localeCompare(b) : a - b;
    return isDown ? -order : order;
  });
  return html`<section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Calls of each tool"><table><thead><tr>
    ${COLUMNS.map(([key, label]) => html`<th key=${key} scope="col" aria-sort=${column === key ? (isDown ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick=${() => setOrder([key, column === key ? !isDown : key !== "tool"])}>
        ${label}<span aria-hidden="true">${column === key ? (isDown ? " ↓" : " ↑") : ""}</span></button></th>`)}</tr></thead>
    <tbody>${sorted.map((row) => html`<tr key=${row.tool}><th scope="row"><a href=${link("tools", row.tool)}>${row.tool}</a></th><td>
      ${numberOf(row.calls)}</td><td>${percent(row.success_rate)}</td><td>${row.avg_ms === undefined ? "–" : durationOf(row.avg_ms)}</td>
      <td>${bytesOf(row.total_bytes)}</td></tr>`)}</tbody></table></div></section>`;
}
