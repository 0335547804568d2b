// @ts-check
// Starts the page.

import { html, render } from "./preact-htm.js";
import { connect, stopListening } from "./lib/connection.js";
import { go } from "./lib/route.js";
import { whenRefused } from "./lib/server.js";
import { getState, readAddress, setState } from "./lib/store.js";
import { getToken, takeTokenFromAddress } from "./lib/token.js";
import { App } from "./views/app.js";

/** Moves the focus to the search box. */
function focusSearch() {
  const focus = () => {
    const search = /** @type {HTMLInputElement | null} */ (document.getElementById("search"));
    search?.focus();
    search?.select();
  };
  if (getState().route.view === "tools") {
    // Not later: the next key is already part of the query.
    focus();
    return;
  }
  go("tools");
  setTimeout(focus);
}

addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
  const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isSlash && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k")) return;
  event.preventDefault();
  focusSearch();
});

takeTokenFromAddress();
readAddress();

addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#token=")) return;
  takeTokenFromAddress();
  readAddress();
  setState({ refused: undefined });
  connect();
});

whenRefused((hadToken) => {
  stopListening();
  setState({
    refused: hadToken || Boolean(getToken()),
    tools: undefined,
    servers: [],
    overview: undefined,
    connection: "idle",
    calls: [],
  });
});

const liveRegion = document.createElement("div");
liveRegion.id = "live";
liveRegion.className = "hidden";
liveRegion.setAttribute("aria-live", "polite");
document.body.append(liveRegion);
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
connect();
