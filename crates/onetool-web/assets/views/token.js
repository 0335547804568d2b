// @ts-check
// The form for the access token.

import { html, useState } from "../preact-htm.js";
import { connect } from "../lib/connection.js";
import { config } from "../lib/server.js";
import { setState } from "../lib/store.js";
import { setToken } from "../lib/token.js";

/**
 * Shows a form for the access token.
 * @param {{ wasRefused: boolean }} props
 */
export function TokenForm({ wasRefused }) {
  const [typed, setTyped] = useState("");
  /** @param {Event} event */
  const onSubmit = (event) => {
    event.preventDefault();
    setToken(typed.trim());
    setState({ refused: undefined });
    connect();
  };
  return html`<main class="gate" id="main"><form class="card" onSubmit=${onSubmit}><h1>${config.title}</h1>
      <p>${
        wasRefused
          ? "The access token was not accepted. It may have expired or changed."
          : "This server requires an access token."
      }</p>
      <label for="token">Access token</label>
      <input id="token" type="password" autocomplete="off" required value=${typed}
        onInput=${(event) => setTyped(event.target.value)} ref=${(input) => input?.focus()} />
      <p class="muted small">
        ${
          config.gateway
            ? html`It is printed when the server starts and saved in <code>.onetool/token</code>.`
            : "Ask the operator of the server for it."
        } It is kept until this tab is closed.</p>
      <button class="primary">Open</button></form></main>`;
}
