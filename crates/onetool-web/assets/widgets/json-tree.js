// @ts-check
// JSON as a tree.

import { html, useState } from "../preact-htm.js";
import { numberOf } from "../lib/format.js";
import { isRaw, stringify, typeOf } from "../lib/json.js";

/** @import { Json } from "../types.js" */

const CHILDREN_SHOWN = 100;

/**
 * Shows JSON as a tree whose branches are drawn when they are opened.
 * @param {{ value: Json }} props
 */
export function JsonTree({ value }) {
  return html`<div class="tree" tabindex="0" role="group" aria-label="Data">
    <${TreeNode} value=${value} isOpen /></div>`;
}

/**
 * Shows one value of a tree.
 * @param {{ name?: string, value: Json, isOpen?: boolean }} props
 */
function TreeNode({ name, value, isOpen = false }) {
  const [open, setOpen] = useState(isOpen);
  const [limit, setLimit] = useState(CHILDREN_SHOWN);
  const label = name === undefined ? "" : html`<span class="key">${name}</span>: `;
  const type = isRaw(value) ? "integer" : typeOf(value);
  if (type !== "object" && type !== "array")
    return html`<div class="leaf">${label}<span class=${`value ${type}`}>${stringify(value)}</span></div>`;
  const entries = Object.entries(value);
  const size = type === "array" ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length)
    return html`<div class="leaf">${label}<span class="value">${type === "array" ? "[]" : "{}"}</span></div>`;
  return html`<div class="branch"><button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class="turn" aria-hidden="true">▸</span>${label}<span class="muted">${size}</span></button>
    ${
      open &&
      html`<div class="children">
        ${entries.slice(0, limit).map(
          ([key, part]) => html`<${TreeNode} key=${key} name=${key}
            value=${part} isOpen=${entries.length <= 8 && name === undefined} />`,
        )}
        ${
          entries.length > limit &&
          html`<button type="button" class="quiet" onClick=${() => setLimit(limit + 1000)}>
            ${numberOf(entries.length - limit)} more</button>`
        }</div>`
    }</div>`;
}
