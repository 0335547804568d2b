// One tool: what it does, its form, and beside it the result and the request.

import { html, useEffect, useMemo, useRef, useState } from "./preact-htm.js";
import { cli, curl, flatName, initial, isRaw, masked, mcp, parse, python, read, stringify, typeOf } from "./data.js";
import { focusField, Form, JsonBox, placeErrors } from "./form.js";
import { setActive } from "./list.js";
import { announce, ask, Badge, base, bytesOf, config, CopyButton, Dialog, durationOf, Empty, get, getToken, hintsOf, isRunKey, link, Loading, numberOf, Problem, save, Segments, send, set, toolPath, useAsked, useStore, v1 } from "./shared.js";
import { HistoryList } from "./views.js";

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
  useEffect(() => {
    drafts.set(tool.name, { args, outcome: outcome?.since === undefined ? outcome : undefined });
  }, [args, outcome]);
  useEffect(() => () => running.current?.abort(), []);

  const change = (next) => {
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
    const since = performance.now();
    setTab("result");
    setErrors([]);
    setVerdict(undefined);
    setOutcome({ since });
    const body = stringify(args);
    const end = (done) => {
      running.current = undefined;
      setOutcome(done);
    };
    let done;
    try {
      // Arguments that do not fit are told here and never get to the call.
      const check = await send(toolPath(tool.name, "/validate"), { method: "POST", body, signal: stopping.signal });
      const problems = check.status === 200 ? read(check.text).value?.errors : undefined;
      if (problems) {
        end(undefined);
        return showErrors(problems);
      }
      const { status, text, ms } = await send(toolPath(tool.name, "/call"), { method: "POST", body, signal: stopping.signal });
      const answer = read(text).value;
      const output = Array.isArray(answer?.content) ? answer : undefined;
      if (Array.isArray(answer?.errors)) {
        end(undefined);
        return showErrors(answer.errors);
      }
      done = { status, text, ms, output, failure: output ? undefined : { status, message: answer?.error ?? `The server answered ${status}.` } };
    } catch (failure) {
      const ms = performance.now() - since;
      done = failure.name === "AbortError" ? { cancelled: true, ms } : { status: 0, ms, failure };
    }
    end(done);
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
        <label class="check"><input type="checkbox" role="switch" checked=${tool.active} onChange=${(event) => setActive([tool.name], event.target.checked)} />active</label></p>`}
      ${tool.signature && html`<p class="signature"><code>${tool.signature}</code></p>`}
      <div class="row formhead"><h2>Arguments</h2><span class="grow"></span><${Segments} label="Edit arguments as" options=${[["form", "Form"], ["json", "JSON"]]} value=${mode} onChange=${(next) => !broken && setMode(next)} />
        <button type="button" class="quiet" onClick=${() => { change(initial(tool.input_schema, tool.input_schema) ?? {}); setErrors([]); }}>Reset</button></div>
      ${errors.length > 0 && html`<div class="notice bad" role="alert" tabindex="-1" ref=${summary}><p><strong>${errors.length === 1 ? "One thing does" : `${errors.length} things do`} not fit.</strong></p>
        <ul>${[...placed].map(([path, messages]) => html`<li key=${path}><button type="button" class="link" onClick=${() => { setMode("form"); setTimeout(() => focusField(path)); }}><code>${path || "arguments"}</code></button> ${messages.join(". ")}</li>`)}</ul></div>`}
      <form class="form" novalidate onSubmit=${(event) => { event.preventDefault(); start(); }}>
        ${mode === "form" ? html`<${Form} schema=${tool.input_schema} value=${args} errors=${placed} onChange=${change} />` : html`<${JsonBox} value=${args} rows=${12} control=${{ id: "json-args", "aria-label": "Arguments as JSON" }} onState=${setBroken} refuse=${notAnObject} onChange=${change} />`}
        <div class="actions">${config.allowExecute
          ? isRunning
            ? html`<button key="cancel" type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
            : html`<button key="run" type="submit" class="primary" disabled=${Boolean(broken)} aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd></button>`
          : html`<p class="muted off">${config.executeHint}</p>`}
          <button type="button" onClick=${validate} disabled=${Boolean(broken)}>Validate</button>
          ${verdict === "valid" && html`<span class="good" role="status">✓ Valid</span>`}</div>
      </form>
      ${asking && html`<${Dialog} title="Run a destructive tool?" confirm="Run it" danger onConfirm=${run} onCancel=${() => setAsking(false)}><p><code>${tool.name}</code> says that it may destroy something. It runs with these arguments:</p><pre class="text">${stringify(args, 2)}</pre><//>`}
    </main>
    <aside class="pane side" aria-label="Result and request">
      <${Segments} label="Show" options=${[["result", "Result"], ["request", "Request"], ["history", "History"]]} value=${tab} onChange=${setTab} />
      <div class="sidebody">
        ${tab === "result" && html`<${Outcome} outcome=${outcome} name=${flatName(tool.name)} empty=${html`<${Empty} title="No result yet">${config.allowExecute ? "Run the tool to see here what an agent would get." : "Execution is off; the arguments can still be validated."}<//>`} />`}
        ${tab === "request" && html`<${Request} tool=${tool} args=${args} url=${url} />`}
        ${tab === "history" && html`<${HistoryList} tool=${tool.name} />`}
      </div></aside>`;
}

const notAnObject = (value) => (value === undefined || typeOf(value) === "object" ? undefined : "The arguments have to be a JSON object");

/** Without a gateway the page itself remembers, and forgets when it is closed. */
function remember(tool, args, { output, ms }) {
  const call = { id: crypto.randomUUID?.() ?? String(Math.random()), tool: tool.name, at_ms: Date.now() - ms, duration_ms: Math.round(ms), is_error: output.isError === true, surface: "page", pinned: false, arguments: masked(args, tool.input_schema, tool.input_schema), output };
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
  return html`<div class="request"><${Segments} label="Copy as" options=${[["curl", "cURL"], ["python", "Python"], ["mcp", "MCP"], ["cli", "CLI"]]} value=${kind} onChange=${setKind} />
    <pre class="text" tabindex="0" role="group" aria-label="The call, written out">${text}</pre>
    <div class="row"><${CopyButton} text=${text} label=${`Copy as ${{ curl: "cURL", python: "Python", mcp: "MCP JSON", cli: "CLI" }[kind]}`} /><${CopyButton} text=${share} label="Copy link" />
    ${kind === "curl" && token && html`<label class="check"><input type="checkbox" checked=${reveal} onChange=${(event) => setReveal(event.target.checked)} />show the token</label>`}</div></div>`;
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
  if (type !== "object" && type !== "array") return html`<div class="leaf">${label}<span class=${`value ${type}`}>${stringify(value)}</span></div>`;
  const entries = Object.entries(value);
  const size = type === "array" ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return html`<div class="leaf">${label}<span class="value">${type === "array" ? "[]" : "{}"}</span></div>`;
  return html`<div class="branch"><button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}><span class="turn" aria-hidden="true">▸</span>${label}<span class="muted">${size}</span></button>
    ${open && html`<div class="children">${entries.slice(0, limit).map(([key, part]) => html`<${Node} key=${key} name=${key} value=${part} isOpen=${entries.length <= 8 && name === undefined} />`)}
      ${entries.length > limit && html`<button type="button" class="quiet" onClick=${() => setLimit(limit + 1000)}>${numberOf(entries.length - limit)} more</button>`}</div>`}</div>`;
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
        return html`<figure><img src=${`data:${block.mimeType};base64,${block.data}`} alt=${`Picture from the tool, ${block.mimeType}`} /><figcaption>${block.mimeType} · ${bytesOf(block.data.length * 0.75)}
          <button type="button" class="quiet" onClick=${() => save("picture", bytesFrom(block.data), block.mimeType)}>Save</button></figcaption></figure>`;
      break;
    case "audio":
      if (isType(block.mimeType, "audio") && isBase64(block.data))
        return html`<figure><audio controls src=${`data:${block.mimeType};base64,${block.data}`}></audio><figcaption>${block.mimeType}</figcaption></figure>`;
      break;
    case "resource_link":
      return html`<div class="resource"><strong>${block.name}</strong> ${block.mimeType && html`<span class="muted">${block.mimeType}</span>`}<code>${block.uri}</code>${block.description && html`<p>${block.description}</p>`}<${CopyButton} text=${String(block.uri)} label="Copy address" /></div>`;
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource ?? {};
      return html`<div class="resource"><code>${uri}</code> ${mimeType && html`<span class="muted">${mimeType}</span>`}
        ${text !== undefined && html`<${TextBlock} text=${String(text)} />`}
        ${isBase64(blob) && html`<button type="button" onClick=${() => save("resource", bytesFrom(blob), "application/octet-stream")}>Save ${bytesOf(Math.floor(blob.length * 0.75))}</button>`}</div>`;
    }
  }
  return html`<${Plain} text=${stringify(block, 2)} />`;
}

function TextBlock({ text }) {
  const isJson = text.length <= PLAIN_ABOVE && /^\s*[[{]/.test(text);
  const parsed = isJson ? read(text) : {};
  const [asTree, setAsTree] = useState(true);
  if (!isJson || parsed.error) return html`<${Plain} text=${text} />`;
  return html`<div><button type="button" class="quiet" onClick=${() => setAsTree(!asTree)}>${asTree ? "As text" : "As tree"}</button>${asTree ? html`<${Tree} value=${parsed.value} />` : html`<${Plain} text=${text} />`}</div>`;
}

/** Tells whether an answer stands for a result that was stored because it is large. */
const isStored = (data) => typeOf(data) === "object" && typeof data.handle === "string" && typeof data.total_lines === "number" && Array.isArray(data.preview);

export function Output({ output }) {
  const data = output.structuredContent;
  if (isStored(data))
    return html`<div class="notice stored"><p><strong>${numberOf(data.total_lines)} lines</strong>, ${bytesOf(data.size_bytes)}. The result was stored, so that it does not fill the context.</p>
        ${config.gateway && html`<a class="button" href=${link("results", data.handle)}>Read it</a>`}</div><${Plain} text=${data.preview.join("\n")} />`;
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
  if (outcome.since !== undefined) return html`<div class="running" role="status"><span class="pulse" aria-hidden="true"></span>Running <${Elapsed} since=${outcome.since} /></div>`;
  const [tone, words] = headline(outcome);
  const { output, text, status, ms, failure } = outcome;
  const trace = output?._meta?._trace_id;
  const body = output ? text : (failure?.message ?? "");
  return html`<div class="outcome">
    <div class=${`verdict ${tone}`}><strong>${words}</strong><span>${durationOf(ms)}</span>${status > 0 && html`<span>HTTP ${status}</span>`}${text && html`<span>${bytesOf(text.length)}</span>`}
      ${trace && html`<span class="trace" title="Trace id">${trace}</span>`}</div>
    ${!output && html`<p class="failure">${outcome.cancelled ? "The request was closed, which stops the tool." : body}</p>`}
    ${output && html`<div class="row tools"><${Segments} label="Show the result as" options=${[["content", "Content"], ["raw", "Raw"]]} value=${view} onChange=${setView} />
      <span class="grow"></span><${CopyButton} text=${text} /><button type="button" class="quiet" onClick=${() => save(`${name}.json`, text, "application/json")}>Save</button></div>
      ${view === "raw" ? html`<${Plain} text=${text.length <= CUT_ABOVE ? stringify(read(text).value ?? text, 2) : text} name=${`${name}.json`} />` : html`<${Output} output=${output} />`}`}</div>`;
}
