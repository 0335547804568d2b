// @ts-check
// A placeholder where there is nothing to show.

import { html } from "../preact-htm.js";

/** @import { Children } from "../preact-htm.js" */

/**
 * Shows a title and an explanation.
 * @param {{ title: string, children?: Children }} props
 */
export function Empty({ title, children }) {
  return html`<div class="empty"><svg viewBox="0 0 48 48" aria-hidden="true">
      <rect x="7" y="10" width="34" height="28" rx="6" />
      <path d="M7 19h34M14 27h12M14 32h7" /></svg>
    <h2>${title}</h2><p>${children}</p></div>`;
}
