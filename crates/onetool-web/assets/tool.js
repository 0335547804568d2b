// One tool: what it does, its form, and beside it the result and the request.

import { html, useEffect, useMemo, useRef, useState } from "./preact-htm.js";
import { ask, base, config, getToken, send, toolPath, v1 } from "./api.js";
import { focusField, Form, JsonBox, placeErrors } from "./form.js";
import { HistoryList } from "./history.js";
import { parse, read, stringify, typeOf } from "./json.js";
import { setActive } from "./list.js";
import { Outcome } from "./result.js";
import { initial, masked } from "./schema.js";
import { cli, curl, flatName, mcp, python } from "./snippets.js";
import { get, link, set, useStore } from "./store.js";
import { announce, Badge, CopyButton, Dialog, Empty, hintsOf, isRunKey, Loading, Problem, Segments, useAsked } from "./ui.js";

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
    let done;
    try {
      const { status, text, ms } = await send(toolPath(tool.name, "/call"), { method: "POST", body, signal: stopping.signal });
      const answer = read(text).value;
      const output = Array.isArray(answer?.content) ? answer : undefined;
      if (Array.isArray(answer?.errors)) {
        running.current = undefined;
        setOutcome(undefined);
        return showErrors(answer.errors);
      }
      done = { status, text, ms, output, failure: output ? undefined : { status, message: answer?.error ?? `The server answered ${status}.` } };
    } catch (failure) {
      const ms = performance.now() - since;
      done = failure.name === "AbortError" ? { cancelled: true, ms } : { status: 0, ms, failure };
    }
    running.current = undefined;
    setOutcome(done);
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
            ? html`<button type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
            : html`<button type="submit" class="primary" disabled=${Boolean(broken)} aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd></button>`
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
    <pre class="text" tabindex="0" aria-label="The call, written out">${text}</pre>
    <div class="row"><${CopyButton} text=${text} label=${`Copy as ${{ curl: "cURL", python: "Python", mcp: "MCP JSON", cli: "CLI" }[kind]}`} /><${CopyButton} text=${share} label="Copy link" />
    ${kind === "curl" && token && html`<label class="check"><input type="checkbox" checked=${reveal} onChange=${(event) => setReveal(event.target.checked)} />show the token</label>`}</div></div>`;
}
