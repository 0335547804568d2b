// The console: code as the `run` tool takes it, and what can be typed instead of longer things.

import { html, useRef, useState } from "./preact-htm.js";
import { config, send, v1 } from "./api.js";
import { read, stringify } from "./json.js";
import { Outcome } from "./result.js";
import { link } from "./store.js";
import { announce, Empty, isRunKey, Problem, useAsked } from "./ui.js";

let draft = { code: "", outcome: undefined };

export function ConsoleView() {
  const [code, setCode] = useState(draft.code);
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
    const since = performance.now();
    setOutcome({ since });
    let done;
    try {
      const { status, text, ms } = await send("api/v1/run", { method: "POST", body: stringify({ command: code }), signal: stopping.signal });
      const answer = read(text).value;
      const output = Array.isArray(answer?.content) ? answer : undefined;
      done = { status, text, ms, output, failure: { status, message: answer?.error ?? `The server answered ${status}.` } };
    } catch (failure) {
      const ms = performance.now() - since;
      done = failure.name === "AbortError" ? { cancelled: true, ms } : { status: 0, ms, failure };
    }
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
  const isRunning = outcome?.since !== undefined;
  return html`<main class="page console" id="main"><div class="editor"><h1 tabindex="-1">Run</h1>
      <p class="muted">Python in a sandbox, where every tool is a function: <code>brave.search(query="rust")</code></p>
      <label class="hidden" for="code">Code</label><textarea id="code" class="code" rows="8" spellcheck="false" autocapitalize="off" placeholder=${'results = brave.search(query="rust", count=3)\nresults'} value=${code} onInput=${(event) => edit(event.target.value)} onKeyDown=${onKey}></textarea>
      <div class="actions">${config.allowExecute
        ? isRunning
          ? html`<button type="button" class="danger" onClick=${() => running.current?.abort()}>Cancel</button>`
          : html`<button type="button" class="primary" disabled=${!code.trim()} onClick=${run} aria-keyshortcuts="Control+Enter">Run <kbd>Ctrl ⏎</kbd></button>`
        : html`<p class="muted off">${config.executeHint}</p>`}
        ${code.trim().startsWith("$") && html`<button type="button" onClick=${expand}>Expand</button>`}</div>
      ${expansion?.failure && html`<${Problem} failure=${expansion.failure} />`}
      ${expansion?.code !== undefined && html`<section aria-label="Expansion"><h2>Expands to</h2><pre class="text" tabindex="0">${expansion.code}</pre></section>`}
      <section aria-label="Output"><${Outcome} outcome=${outcome} name="run" empty=${html`<${Empty} title="No output yet">The value of the last line is the result.<//>`} /></section></div>
    <${ShortcutList} onPick=${edit} /></main>`;
}

function ShortcutList({ onPick }) {
  const { data, failure, reload } = useAsked(() => v1("shortcuts"), []);
  const { data: packs } = useAsked(() => v1("packs"), []);
  if (failure) return html`<aside class="shortcuts"><${Problem} failure=${failure} retry=${reload} /></aside>`;
  const group = (title, items, draw) => html`<section><h2>${title}</h2>${items?.length ? html`<ul>${items.map(draw)}</ul>` : html`<p class="muted small">None.</p>`}</section>`;
  return html`<aside class="shortcuts" aria-label="Shortcuts">
    ${group("Snippets", data?.snippets, (snippet) => html`<li key=${snippet.name}><button type="button" class="link" onClick=${() => onPick(sample(snippet))}>$${snippet.name}</button><p class="muted small">${snippet.description}</p></li>`)}
    ${group("Aliases", data?.aliases, ({ name, target }) => html`<li key=${name}><code>${name}</code> → <a href=${link("tools", target)}>${target}</a></li>`)}
    ${group("Prompts", data?.prompts, ({ name, description, arguments: names }) => html`<li key=${name}><code>${name}(${names.join(", ")})</code><p class="muted small">${description}</p></li>`)}
    ${group("Packs", packs, ({ name, tool_count: count, instructions }) => html`<li key=${name} title=${instructions}><code>${name}</code> <span class="muted small">${count}</span></li>`)}</aside>`;
}

const sample = ({ name, parameters }) => `$${name} ${parameters.map((parameter) => `${parameter.name}=${parameter.default ?? parameter.name}`).join(" ")}`.trim();
