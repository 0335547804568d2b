// @ts-check
// One tool: its form, the result and the request.

import { html, useEffect, useMemo, useRef, useState } from "../preact-htm.js";
import { announce, isRunKey } from "../lib/browser.js";
import { sendCall } from "../lib/calls.js";
import { hintsOf } from "../lib/hints.js";
import { rememberCall } from "../lib/history.js";
import { initialValue } from "../lib/initial-value.js";
import { parse, stringify, tryParse, typeOf } from "../lib/json.js";
import { api, ask, base, config, send, statusMessage, toolPath } from "../lib/server.js";
import { flatName } from "../lib/snippets.js";
import { useStore } from "../lib/store.js";
import { setActive } from "../lib/tools.js";
import { useRequest } from "../lib/use-request.js";
import { Badge } from "../widgets/badge.js";
import { Dialog } from "../widgets/dialog.js";
import { Empty } from "../widgets/empty.js";
import { focusField, placeErrors } from "../widgets/form/errors.js";
import { Form } from "../widgets/form/form.js";
import { JsonInput } from "../widgets/form/json-input.js";
import { HistoryList } from "../widgets/history-list.js";
import { Loading } from "../widgets/loading.js";
import { Outcome } from "../widgets/outcome.js";
import { Problem } from "../widgets/problem.js";
import { RequestPanel } from "../widgets/request-panel.js";
import { Segments } from "../widgets/segments.js";

/**
 * @import { Ref, StateHook } from "../preact-htm.js"
 * @import { CallOutcome, Json, JsonObject, Route, ToolDetail, ValidationError } from "../types.js"
 */

/**
 * Arguments and outcome per tool, for as long as the page is open.
 * @type {Map<string, { args?: JsonObject, outcome?: CallOutcome }>}
 */
const drafts = new Map();

/**
 * Loads a tool and shows it.
 * @param {{ name: string }} props
 */
export function ToolView({ name }) {
  const tools = useStore((state) => state.tools);
  const { data, failure, reload } = useRequest(async () => {
    const detail = config.gateway ? await api(`tools/${encodeURIComponent(name)}`) : await ask(toolPath(name));
    return { ...detail, input_schema: detail.input_schema ?? detail.inputSchema ?? {} };
  }, [name]);
  if (failure && !data)
    return html`<main class="pane tool" id="main"><${Problem} failure=${failure} retry=${reload} /></main>`;
  if (!data || (data.name !== name && flatName(data.name) !== name))
    return html`<main class="pane tool" id="main"><${Loading} /></main>`;
  const row = tools?.find((tool) => tool.name === data.name);
  return html`<${ToolPage} key=${data.name} tool=${{ ...data, active: row?.active ?? data.active }} />`;
}

/**
 * Returns the initial arguments: from the URL, from the last visit, or from the schema.
 * @param {ToolDetail} tool
 * @param {Route} route
 * @returns {JsonObject}
 */
function startArguments(tool, route) {
  const given = route.values.get("args");
  const linked = given === null ? undefined : tryParse(given).value;
  return linked ?? drafts.get(tool.name)?.args ?? initialValue(tool.input_schema, tool.input_schema) ?? {};
}

/**
 * Shows a tool with its form, the result and the request.
 * @param {{ tool: ToolDetail }} props
 */
function ToolPage({ tool }) {
  const route = useStore((state) => state.route);
  const [args, setArgs] = useState(() => startArguments(tool, route));
  const [mode, setMode] = useState("form");
  const [errors, setErrors] = useState(/** @type {ValidationError[]} */ ([]));
  /** @type {StateHook<string | undefined>} */
  const [verdict, setVerdict] = useState();
  /** @type {StateHook<string | undefined>} */
  const [broken, setBroken] = useState();
  const [outcome, setOutcome] = useState(() => drafts.get(tool.name)?.outcome);
  const [tab, setTab] = useState("result");
  const [confirming, setConfirming] = useState(false);
  /** @type {Ref<AbortController>} */
  const running = useRef();
  /** @type {Ref<HTMLElement>} */
  const summary = useRef();
  const placed = useMemo(() => placeErrors(errors), [errors]);

  useEffect(() => {
    if (route.name === tool.name && route.values.has("args")) setArgs(startArguments(tool, route));
  }, [route]);
  /** @param {CallOutcome} [done] */
  const finish = (done) => {
    drafts.set(tool.name, { args, ...drafts.get(tool.name), outcome: done });
    setOutcome(done);
  };
  useEffect(() => () => running.current?.abort(), []);

  /** @param {JsonObject} [next] */
  const change = (next) => {
    // Not in an effect, so that the last keystroke is kept even if the view is closed right after it.
    drafts.set(tool.name, { ...drafts.get(tool.name), args: next ?? {} });
    setArgs(next ?? {});
    setVerdict(undefined);
  };
  /** @param {ValidationError[]} found */
  const showErrors = (found) => {
    setErrors(found);
    setVerdict(found.length ? "invalid" : "valid");
    announce(
      found.length ? `${found.length} ${found.length === 1 ? "problem" : "problems"} found` : "The arguments are valid",
    );
    if (found.length) setTimeout(() => summary.current?.focus());
  };
  const validate = async () => {
    if (broken) return false;
    try {
      const { status, text } = await send(toolPath(tool.name, "/validate"), { method: "POST", body: stringify(args) });
      const reply = tryParse(text).value;
      showErrors(
        reply?.errors ?? (status === 200 ? [] : [{ path: "", message: reply?.error ?? statusMessage(status) }]),
      );
      return reply?.valid === true;
    } catch (failure) {
      setErrors([{ path: "", message: failure.message }]);
      return false;
    }
  };
  const run = async () => {
    setConfirming(false);
    if (running.current) return;
    const stopping = new AbortController();
    running.current = stopping;
    setTab("result");
    setErrors([]);
    setVerdict(undefined);
    setOutcome({ since: performance.now() });
    const body = stringify(args);
    // Invalid arguments are reported at their fields; the tool is not called.
    const check = await sendCall(toolPath(tool.name, "/validate"), body, stopping.signal);
    const isValid = check.status === 200 && !check.errors;
    const done = isValid ? await sendCall(toolPath(tool.name, "/call"), body, stopping.signal) : check;
    running.current = undefined;
    if (done.errors) {
      finish(undefined);
      return showErrors(done.errors);
    }
    finish(done);
    announce(
      done.canceled
        ? "Canceled"
        : done.output
          ? done.output.isError
            ? "The tool returned an error"
            : "Success"
          : "The call failed",
    );
    if (!config.gateway && done.output) rememberCall(tool, parse(body), done.output, done.ms ?? 0);
  };
  const start = () => {
    if (!config.allowExecute || broken || running.current) return;
    tool.annotations?.destructiveHint === true ? setConfirming(true) : run();
  };
  /** @param {KeyboardEvent} event */
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
      <div class="badges">${hintsOf(tool.annotations).map(
        (hint) => html`<${Badge} key=${hint.key} hint=${hint} />`,
      )}</div></header>
    <p class="description">${tool.description}</p>
    ${
      tool.warnings &&
      tool.warnings.length > 0 &&
      html`<div class="notice bad"><p><strong>Be careful.</strong> ${tool.warnings.join(" ")}</p></div>`
    }
    ${
      config.gateway &&
      html`<p class="facts"><span>from ${tool.source}</span><span>MCP name <code>${tool.flat_name}</code></span>
        <label class="check">
          <input type="checkbox" role="switch" checked=${tool.active}
            onChange=${(event) => setActive([tool.name], event.target.checked)} />active</label></p>`
    }
    ${tool.signature && html`<p class="signature"><code>${tool.signature}</code></p>`}
    <div class="row formhead"><h2>Arguments</h2><span class="grow"></span>
      <${Segments} label="Edit arguments as" options=${[
        ["form", "Form"],
        ["json", "JSON"],
      ]} value=${mode} onChange=${(next) => !broken && setMode(next)} />
      <button type="button" class="quiet" onClick=${() => {
        change(initialValue(tool.input_schema, tool.input_schema) ?? {});
        setErrors([]);
      }}>Reset</button></div>
    ${
      errors.length > 0 &&
      html`<div class="notice bad" role="alert" tabindex="-1" ref=${summary}><p><strong>
            ${errors.length === 1 ? "1 error" : `${errors.length} errors`}</strong></p>
        <ul>${[...placed].map(
          ([path, messages]) => html`<li key=${path}>
            <button type="button" class="link" onClick=${() => {
              setMode("form");
              setTimeout(() => focusField(path));
            }}><code>
                ${path || "arguments"}</code></button> ${messages.join(". ")}</li>`,
        )}</ul></div>`
    }
    <form class="form" novalidate onSubmit=${(event) => {
      event.preventDefault();
      start();
    }}>
      ${
        mode === "form"
          ? html`<${Form} schema=${tool.input_schema} value=${args} errors=${placed} onChange=${change} />`
          : html`<${JsonInput}
            value=${args} rows=${12} control=${{ id: "json-args", "aria-label": "Arguments as JSON" }}
            onState=${setBroken} refuse=${notAnObject}
            onChange=${change} />`
      }
      <div class="actions">${
        config.allowExecute
          ? isRunning
            ? html`<button key="cancel" type="button" class="danger"
              onClick=${() => running.current?.abort()}>Cancel</button>`
            : html`<button key="run" type="submit" class="primary" disabled=${Boolean(broken)}
              aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd>
            </button>`
          : html`<p class="muted off">${config.executeHint}</p>`
      }
        <button type="button" onClick=${validate} disabled=${Boolean(broken)}>Validate</button>
        ${verdict === "valid" && html`<span class="good" role="status">✓ Valid</span>`}</div>
    </form>
    ${
      confirming &&
      html`<${Dialog} title="Run a destructive tool?" confirm="Run it" danger onConfirm=${run}
        onCancel=${() => setConfirming(false)}>
        <p><code>${tool.name}</code> is marked as destructive. It will run with these arguments:</p>
        <pre class="text">
          ${stringify(args, 2)}</pre><//>`
    }
  </main>
  <aside class="pane side" aria-label="Result and request">
    <${Segments} label="Show" options=${[
      ["result", "Result"],
      ["request", "Request"],
      ["history", "History"],
    ]} value=${tab} onChange=${setTab} />
    <div class="sidebody">
      ${
        tab === "result" &&
        html`<${Outcome} outcome=${outcome} name=${flatName(tool.name)} empty=${html`<${Empty} title="No result yet">
          ${
            config.allowExecute
              ? "Run the tool to see what an agent would get."
              : "Execution is off; the arguments can still be validated."
          }<//>`} />`
      }
      ${tab === "request" && html`<${RequestPanel} tool=${tool} args=${args} url=${url} />`}
      ${tab === "history" && html`<${HistoryList} tool=${tool.name} />`}
    </div></aside>`;
}

/**
 * Returns the problem with arguments that are not an object.
 * @param {Json} value
 */
const notAnObject = (value) =>
  value === undefined || typeOf(value) === "object" ? undefined : "The arguments must be a JSON object";
