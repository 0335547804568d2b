// @ts-check
// A row of buttons, one of them pressed.

import { html } from "../preact-htm.js";

/** @import { Option } from "../types.js" */

/**
 * Shows buttons, one of them pressed.
 * @param {{ label: string, options: Option[], value: string, onChange: (key: string) => void }} props
 */
export function Segments({ label, options, value, onChange }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(
      ([
        key,
        text,
      ]) => html`<button type="button" key=${key} aria-pressed=${key === value} onClick=${() => onChange(key)}>
        ${text}</button>`,
    )}</div>`;
}
