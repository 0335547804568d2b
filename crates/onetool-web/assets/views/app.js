// @ts-check
// The frame of the page: navigation and the current view.

import { html, useEffect } from "../preact-htm.js";
import { loadAll } from "../lib/connection.js";
import { numberOf } from "../lib/format.js";
import { config } from "../lib/server.js";
import { useStore } from "../lib/store.js";
import { ConsoleView } from "./console.js";
import { HistoryView } from "./history.js";
import { ResultsView } from "./results.js";
import { ServersView } from "./servers.js";
import { StatsView } from "./stats.js";
import { TokenForm } from "./token.js";
import { ToolView } from "./tool.js";
import { Welcome } from "./welcome.js";
import { Connection } from "../widgets/connection-state.js";
import { Empty } from "../widgets/empty.js";
import { ToolList } from "../widgets/tool-list.js";

/** @import { Option } from "../types.js" */

/**
 * The views in the navigation.
 * @type {Option[]}
 */
const VIEWS = config.gateway
  ? [
      ["tools", "Tools"],
      ["servers", "Servers"],
      ["run", "Run"],
      ["results", "Results"],
      ["history", "History"],
      ["stats", "Statistics"],
    ]
  : [
      ["tools", "Tools"],
      ["history", "History"],
    ];

/** Switches between light and dark. */
function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("onetool-theme", next);
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

/** Shows the page. */
export function App() {
  const { view, name } = useStore((state) => state.route);
  const refused = useStore((state) => state.refused);
  const connection = useStore((state) => state.connection);
  const tools = useStore((state) => state.tools);
  useEffect(() => {
    document.title = [view === "tools" ? name : VIEWS.find(([key]) => key === view)?.[1], config.title]
      .filter(Boolean)
      .join(" · ");
  }, [view, name]);
  if (refused !== undefined) return html`<${TokenForm} wasRefused=${refused} />`;
  /** @param {Event} event */
  const skip = (event) => {
    event.preventDefault();
    /** @type {HTMLElement | null} */ (document.querySelector("#main h1, #main"))?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
  <header class="top"><a class="brand" href="#/tools"><svg viewBox="0 0 32 32" aria-hidden="true">
        <circle cx="16" cy="16" r="6.5" />
        <path d="M16 3.5v6M16 22.5v6M3.5 16h6M22.5 16h6" /></svg>${config.title}</a>
    <nav aria-label="Views">
      ${VIEWS.map(
        ([key, label]) => html`<a key=${key} href=${`#/${key}`} aria-current=${key === view ? "page" : undefined}>
          ${label}</a>`,
      )}</nav><span class="grow"></span>
    ${config.gateway && html`<${Connection} />`}
    <button type="button" class="icon" aria-label="Switch between light and dark"
      onClick=${toggleTheme}>◐</button></header>
  ${
    connection === "lost" &&
    html`<div class="banner"
      role="alert">The connection to the server was lost. This page may be out of date; retrying automatically.</div>`
  }
  ${
    view === "tools" &&
    html`<div class=${`panes ${name ? "one" : "none"}`}><${ToolList} selected=${name} reload=${loadAll} />
      ${
        name
          ? html`<${ToolView} key=${name} name=${name} />`
          : config.gateway
            ? html`<${Welcome} />`
            : html`<main class="pane welcome empty" id="main" tabindex="-1">
              <${Empty} title=${tools ? `${numberOf(tools.length)} tools available` : "Tools"}>Choose one to see its
                arguments and to try it. Press <kbd>/</kbd> to search.<//>
            </main>`
      }</div>`
  }
  ${view === "servers" && html`<${ServersView} name=${name} />`}
  ${view === "stats" && html`<${StatsView} />`}
  ${view === "results" && html`<${ResultsView} handle=${name} />`}
  ${view === "run" && html`<${ConsoleView} />`}
  ${view === "history" && html`<${HistoryView} />`}
  ${
    !VIEWS.some(([key]) => key === view) &&
    html`<main class="page" id="main"><${Empty} title="Page not found"><a href="#/tools">Go to tools</a><//></main>`
  }`;
}
