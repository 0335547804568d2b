// @ts-check
// A badge for an annotation of a tool.

import { html } from "../preact-htm.js";

/** @import { Hint } from "../types.js" */

/**
 * Returns the color of a badge.
 * @param {Hint} hint
 */
const toneOf = ({ key, value }) => {
  if (key === "destructiveHint" && value) return "bad";
  return key === "readOnlyHint" && value ? "good" : "plain";
};

/**
 * Shows a badge for a hint.
 * @param {{ hint: Hint }} props
 */
export function Badge({ hint }) {
  return html`<span class=${`badge ${toneOf(hint)} ${hint.isSet ? "" : "implied"}`} title=${hint.title}>
    ${hint.label}</span>`;
}
