// @ts-check
// The view that runs Python code in the sandbox.

import { html, useEffect, useRef, useState } from "../preact-htm.js";
import { announce, isRunKey } from "../lib/browser.js";
import { sendCall } from "../lib/calls.js";
import { stringify } from "../lib/json.js";
import { api, config } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { Empty } from "../widgets/empty.js";
import { Outcome } from "../widgets/outcome.js";
import { Problem } from "../widgets/problem.js";
import { ShortcutList } from "../widgets/shortcut-list.js";

/**
 * @import { Ref, StateHook } from "../preact-htm.js"
 * @import { CallOutcome, Expansion } from "../types.js"
 */

/**
 * Code and outcome, for as long as the page is open.
 * @type {{ code: string, outcome?: CallOutcome }}
 */
let consoleDraft = { code: "", outcome: undefined };

/** Shows an editor for code and its output. */
export function ConsoleView() {
  const given = useStore((state) => state.route.values.get("code"));
  const hasRun = useStore((state) => state.overview?.run !== false);
  const [code, setCode] = useState(given ?? consoleDraft.code);
  const [outcome, setOutcome] = useState(consoleDraft.outcome);
  /** @type {StateHook<Expansion | undefined>} */
  const [expansion, setExpansion] = useState();
  /** @type {Ref<AbortController>} */
  const running = useRef();
  /** @param {{ code?: string, outcome?: CallOutcome }} next */
  const keep = (next) => {
    consoleDraft = { ...consoleDraft, ...next };
  };
  const run = async () => {
    if (running.current || !code.trim() || !config.allowExecute) return;
    const stopping = new AbortController();
    running.current = stopping;
    setOutcome({ since: performance.now() });
    const done = await sendCall("api/v1/run", stringify({ command: code }), stopping.signal);
    running.current = undefined;
    keep({ outcome: done });
    setOutcome(done);
    announce(done.output && !done.output.isError ? "Success" : "The run failed");
  };
  const expand = async () => {
    try {
      setExpansion(await api("expand", {}, { method: "POST", body: { command: code } }));
    } catch (failure) {
      setExpansion({ failure });
    }
  };
  /** @param {string} next */
  const edit = (next) => {
    setCode(next);
    setExpansion(undefined);
    keep({ code: next });
  };
  /** @param {KeyboardEvent} event */
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
      ${
        !hasRun &&
        html`<div class="notice"><p>This onetool cannot run code: it was built or started without Python.</p></div>`
      }
      <label class="hidden" for="code">Code</label>
      <textarea id="code" class="code" rows="8" spellcheck="false" autocapitalize="off"
        placeholder=${'results = brave.search(query="rust", count=3)\nresults'} value=${code}
        onInput=${(event) => edit(event.target.value)} onKeyDown=${onKey}>
      </textarea>
      <div class="actions">${
        config.allowExecute
          ? isRunning
            ? html`<button type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
            : html`<button type="button" class="primary" disabled=${!code.trim()} onClick=${run}
              aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd>
            </button>`
          : html`<p class="muted off">${config.executeHint}</p>`
      }
        ${code.trim().startsWith("$") && html`<button type="button" onClick=${expand}>Expand</button>`}</div>
      ${expansion?.failure && html`<${Problem} failure=${expansion.failure} />`}
      ${
        expansion?.code !== undefined &&
        html`<section aria-label="Expansion"><h2>Expands to</h2><pre class="text" tabindex="0">
            ${expansion.code}</pre></section>`
      }
      <section aria-label="Output">
        <${Outcome} outcome=${outcome} name="run" empty=${html`<${Empty}
          title="No output yet">The value of the last line is the result.<//>`} />
      </section></div>
    <${ShortcutList} onPick=${edit} /></main>`;
}
