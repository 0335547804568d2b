// The shell: navigation, the three panes, access, live news.

import { html, render, useEffect, useState } from "./preact-htm.js";
import { announce, ask, config, Empty, get, getToken, go, listen, numberOf, readAddress, set, setToken, takeTokenFromAddress, useStore, v1, whenRefused } from "./shared.js";
import { Tool, ToolList } from "./tools.js";
import { ConsoleView, HistoryView, loadServers, ResultsView, ServersView, StatsView, updateServer, Welcome } from "./views.js";

const POLL_MS = 15_000;

const VIEWS = config.gateway
  ? [["tools", "Tools"], ["servers", "Servers"], ["run", "Run"], ["results", "Results"], ["history", "History"], ["stats", "Statistics"]]
  : [["tools", "Tools"], ["history", "History"]];

async function load() {
  try {
    const listed = await (config.gateway ? v1("tools") : ask("tools"));
    // Our own pack is the last that somebody comes for.
    const tools = listed.toSorted((left, right) => Number(left.pack === "ot") - Number(right.pack === "ot"));
    set({ tools, failure: undefined });
    if (config.gateway) {
      set({ overview: await v1("overview") });
      await loadServers();
    }
    return true;
  } catch (failure) {
    set({ failure: failure.status === 401 ? undefined : failure });
    return false;
  }
}

let stopListening = () => {};

/** Loads, then follows the news; where there are none, asks again now and then. */
async function begin() {
  stopListening();
  if (!(await load()) && get().refused !== undefined) return;
  if (!config.gateway) {
    const timer = setInterval(() => document.visibilityState === "visible" && load(), POLL_MS);
    stopListening = () => clearInterval(timer);
    return;
  }
  const poll = setInterval(() => get().connection !== "live" && load(), POLL_MS);
  const stop = listen(onEvent, (connection, isBack) => {
    set({ connection });
    if (isBack) {
      announce("The connection is back");
      load();
    }
  });
  stopListening = () => {
    clearInterval(poll);
    stop();
  };
}

let soon;

function onEvent(event) {
  if (event.type === "server_health") updateServer(event.server);
  else if (event.type === "call_finished") set({ finished: event.call.id });
  else {
    // Many changes in a row are one.
    clearTimeout(soon);
    soon = setTimeout(load, 100);
  }
}

function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("onetool-theme", next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function focusSearch() {
  const focus = () => {
    const search = document.getElementById("search");
    search?.focus();
    search?.select();
  };
  if (get().route.view === "tools") {
    // At once: the next key is already part of the query.
    focus();
    return;
  }
  go("tools");
  setTimeout(focus);
}

addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isSlash && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k")) return;
  event.preventDefault();
  focusSearch();
});

function TokenForm({ wasRefused }) {
  const [typed, setTyped] = useState("");
  const onSubmit = (event) => {
    event.preventDefault();
    setToken(typed.trim());
    set({ refused: undefined });
    begin();
  };
  return html`<main class="gate" id="main"><form class="card" onSubmit=${onSubmit}><h1>${config.title}</h1>
    <p>${wasRefused ? "The access token was not accepted. It may have expired or changed." : "This server asks for an access token."}</p>
    <label for="token">Access token</label>
      <input id="token" type="password" autocomplete="off" required value=${typed} onInput=${(event) => setTyped(event.target.value)} ref=${(input) => input?.focus()} />
    <p class="muted small">
      ${config.gateway ? html`It is printed when the server starts, and lies in <code>.onetool/token</code>.` : "Ask whoever runs the server."} It is kept until this tab is closed.</p>
    <button class="primary">Open</button></form></main>`;
}

function Connection() {
  const connection = useStore((state) => state.connection);
  const servers = useStore((state) => state.servers);
  const down = servers.filter((server) => server.enabled && server.health === "unhealthy").length;
  return html`${down > 0 && html`<a class="alarm" href="#/servers">${down} ${down === 1 ? "server" : "servers"} down</a>`}
    <span class=${`connection ${connection}`}
      role="status" title=${connection === "live" ? "Changes are shown at once" : "Trying to reach the server"}>
      ${{ live: "live", lost: "reconnecting…", idle: "" }[connection]}</span>`;
}

function App() {
  const { view, name } = useStore((state) => state.route);
  const refused = useStore((state) => state.refused);
  const connection = useStore((state) => state.connection);
  const tools = useStore((state) => state.tools);
  useEffect(() => {
    document.title = [view === "tools" ? name : VIEWS.find(([key]) => key === view)?.[1], config.title].filter(Boolean).join(" · ");
  }, [view, name]);
  if (refused !== undefined) return html`<${TokenForm} wasRefused=${refused} />`;
  const skip = (event) => {
    event.preventDefault();
    document.querySelector("#main h1, #main")?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top"><a class="brand" href="#/tools"><svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="6.5" />
      <path d="M16 3.5v6M16 22.5v6M3.5 16h6M22.5 16h6" /></svg>${config.title}</a>
      <nav aria-label="Views">
        ${VIEWS.map(([key, label]) => html`<a key=${key} href=${`#/${key}`} aria-current=${key === view ? "page" : undefined}>
        ${label}</a>`)}</nav><span class="grow"></span>
      ${config.gateway && html`<${Connection} />`}<button type="button" class="icon" aria-label="Switch between light and dark"
        onClick=${toggleTheme}>◐</button></header>
    ${connection === "lost" && html`<div class="banner"
      role="alert">The connection to the server is lost. What you see may be old; it is tried again by itself.</div>`}
    ${view === "tools" && html`<div class=${`panes ${name ? "one" : "none"}`}><${ToolList} selected=${name} reload=${load} />
      ${name ? html`<${Tool} key=${name} name=${name} />` : config.gateway ? html`<${Welcome} />` : html`<main class="pane welcome empty" id="main" tabindex="-1">
        <${Empty} title=${tools ? `${numberOf(tools.length)} tools at hand` : "Tools"}>Choose one to see what it takes and to try it. Press <kbd>/</kbd> to search.<//>
        </main>`}</div>`}
    ${view === "servers" && html`<${ServersView} name=${name} />`}
    ${view === "stats" && html`<${StatsView} />`}
    ${view === "results" && html`<${ResultsView} handle=${name} />`}
    ${view === "run" && html`<${ConsoleView} />`}
    ${view === "history" && html`<${HistoryView} />`}
    ${!VIEWS.some(([key]) => key === view) && html`<main class="page" id="main"><${Empty} title="There is no such page">
      <a href="#/tools">To the tools</a><//></main>`}`;
}

takeTokenFromAddress();
readAddress();
addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#token=")) return;
  takeTokenFromAddress();
  readAddress();
  set({ refused: undefined });
  begin();
});
whenRefused((hadToken) => {
  stopListening();
  set({ refused: hadToken || Boolean(getToken()), tools: undefined, servers: [], overview: undefined, connection: "idle", calls: [] });
});
const live = document.createElement("div");
live.id = "live";
live.className = "hidden";
live.setAttribute("aria-live", "polite");
document.body.append(live);
render(html`<${App} />`, document.getElementById("app"));
begin();
