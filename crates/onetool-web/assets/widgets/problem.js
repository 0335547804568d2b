// @ts-check
// An error message with an optional retry button.

import { html } from "../preact-htm.js";

/**
 * Shows an error, with a retry button if `retry` is given.
 * @param {{ failure: { message: string }, retry?: () => void }} props
 */
export function Problem({ failure, retry }) {
  return html`<div class="notice bad" role="alert"><p>${failure.message}</p>
    ${retry && html`<button type="button" onClick=${retry}>Retry</button>`}</div>`;
}
