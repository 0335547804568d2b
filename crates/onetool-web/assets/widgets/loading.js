// @ts-check
// A note that something is loading.

import { html } from "../preact-htm.js";

/**
 * Shows that something is loading.
 * @param {{ what?: string }} props
 */
export const Loading = ({ what = "Loading" }) => html`<p class="loading" role="status">${what}…</p>`;
