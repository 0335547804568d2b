// @ts-check
// A tile with one number.

import { html } from "../preact-htm.js";

/** @import { Children } from "../preact-htm.js" */

/**
 * Shows a number with a label and a note.
 * @param {{ label: string, value: string, children?: Children }} props
 */
export function Tile({ label, value, children }) {
  return html`<div class="tile"><h2>${label}</h2><p class="figure">${value}</p><p class="muted small">
      ${children}</p></div>`;
}
