// @ts-check
// Snippets, aliases, prompts and packs next to the console.

import { html } from "../preact-htm.js";
import { link } from "../lib/route.js";
import { api } from "../lib/server.js";
import { useRequest } from "../lib/use-request.js";
import { Problem } from "./problem.js";

/**
 * @import { VNode } from "../preact-htm.js"
 * @import { Pack, Shortcuts } from "../types.js"
 */

/**
 * Shows snippets, aliases, prompts and packs; `onPick` receives the code of a snippet.
 * @param {{ onPick: (code: string) => void }} props
 */
export function ShortcutList({ onPick }) {
  /** @type {() => Promise<Shortcuts>} */
  const loadShortcuts = () => api("shortcuts");
  const { data, failure, reload } = useRequest(loadShortcuts, []);
  /** @type {() => Promise<Pack[]>} */
  const loadPacks = () => api("packs");
  const { data: packs } = useRequest(loadPacks, []);
  if (failure) return html`<aside class="shortcuts"><${Problem} failure=${failure} retry=${reload} /></aside>`;
  /** @template T @param {string} title @param {T[] | undefined} items @param {(item: T) => VNode} draw */
  const group = (title, items, draw) =>
    html`<section><h2>${title}</h2>${
      items?.length ? html`<ul>${items.map(draw)}</ul>` : html`<p class="muted small">None.</p>`
    }</section>`;
  return html`<aside class="shortcuts" aria-label="Shortcuts">
    ${group(
      "Snippets",
      data?.snippets,
      (snippet) => html`<li key=${snippet.name}>
        <button type="button" class="link" onClick=${() => onPick(snippet.example)}>$${snippet.name}</button>
        <p class="muted small">
          ${snippet.description}</p></li>`,
    )}
    ${group(
      "Aliases",
      data?.aliases,
      ({ name, target }) => html`<li key=${name}><code>${name}</code> → <a href=${link("tools", target)}>
          ${target}</a></li>`,
    )}
    ${group(
      "Prompts",
      data?.prompts,
      ({ name, description, arguments: names }) => html`<li key=${name}><code>
          ${name}(${names.join(", ")})</code><p class="muted small">${description}</p></li>`,
    )}
    ${group(
      "Packs",
      packs,
      ({ name, tool_count: count, instructions }) => html`<li key=${name} title=${instructions}><code>
          ${name}</code> <span class="muted small">${count}</span></li>`,
    )}</aside>`;
}
