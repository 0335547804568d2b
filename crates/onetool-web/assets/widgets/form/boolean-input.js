// @ts-check
// True, false or omitted.

import { html } from "../../preact-htm.js";

/** @import { ControlProps } from "../../types.js" */

/**
 * Shows radio buttons for true, false and omitted.
 * @param {ControlProps} props
 */
export function BooleanInput({ value, name, required, schema, control, onChange }) {
  /** @type {[string, boolean | undefined][]} */
  const options = [
    ["true", true],
    ["false", false],
  ];
  if (!required) options.push([`omit${"default" in schema ? ` (${schema.default})` : ""}`, undefined]);
  return html`<div class="radios">${options.map(
    ([label, option], index) => html`<label key=${label}>
      <input type="radio" name=${control.id} id=${index ? undefined : control.id}
        aria-describedby=${control["aria-describedby"]} aria-label=${`${name}: ${label}`} checked=${value === option}
        onChange=${() => onChange(option)} />
      ${label}</label>`,
  )}</div>`;
}
