// @ts-check
// The history of calls.

import { html, useState } from "../preact-htm.js";
import { announce, saveFile } from "../lib/browser.js";
import { findCall, listCalls } from "../lib/history.js";
import { stringify } from "../lib/json.js";
import { api, config } from "../lib/server.js";
import { getState, setState, useStore } from "../lib/store.js";
import { HistoryList } from "../widgets/history-list.js";

/** @import { FieldEvent } from "../types.js" */

/** Shows the history of calls. */
export function HistoryView() {
  const overview = useStore((state) => state.overview);
  const [round, setRound] = useState(0);
  const isOn = overview?.history ?? true;
  const exportAll = async () => {
    const calls = await listCalls();
    saveFile(
      "history.json",
      stringify(await Promise.all(calls.map((call) => findCall(call.id))), 2),
      "application/json",
    );
  };
  const clear = async () => {
    if (config.gateway) await api("history", {}, { method: "DELETE" });
    else setState({ calls: getState().calls.filter((call) => call.pinned) });
    announce("Cleared all but pinned calls");
    setRound(round + 1);
  };
  /** @param {FieldEvent} event */
  const toggle = async (event) => {
    const enabled = event.target.checked;
    if (overview) setState({ overview: { ...overview, history: enabled } });
    await api("history", {}, { method: "PUT", body: { enabled } }).catch(() => setState({ overview }));
  };
  return html`<main class="page" id="main"><div class="row"><h1 tabindex="-1">History</h1><span class="grow"></span>
      ${
        config.gateway &&
        html`<label class="check">
          <input type="checkbox" role="switch" checked=${isOn} onChange=${toggle} />remember calls</label>`
      }
      <button type="button" onClick=${exportAll}>Export JSON</button>
      <button type="button" onClick=${clear}>Clear</button></div>
    ${!isOn && html`<div class="notice"><p>Calls are not being remembered.</p></div>`}
    <${HistoryList} key=${round} /></main>`;
}
