// @ts-check
// A choice among fixed values.

import { html } from "../../preact-htm.js";
import { stringify } from "../../lib/json.js";

/** @import { ControlProps, FieldEvent, Json } from "../../types.js" */

/**
 * Shows a list of fixed values.
 * @param {ControlProps} props
 */
export function EnumInput({ schema, value, required, control, onChange }) {
  /** @type {Json[]} */
  const values = schema.enum;
  const options = values.map((option) => stringify(option));
  const index = options.indexOf(stringify(value));
  const isForeign = value !== undefined && index < 0;
  /** @param {FieldEvent} event */
  const onSelect = (event) => onChange(event.target.value === "" ? undefined : values[+event.target.value]);
  return html`<select ...${control} value=${index < 0 ? "" : String(index)} onChange=${onSelect}>
    <option value="">${
      isForeign
        ? inputText(value)
        : required
          ? "Choose…"
          : `omit${"default" in schema ? ` (${inputText(schema.default)})` : ""}`
    }</option>
    ${values.map((option, at) => html`<option key=${at} value=${String(at)}>${inputText(option)}</option>`)}</select>`;
}

/**
 * Returns a value as text for an input.
 * @param {Json} value
 * @returns {string}
 */
export const inputText = (value) => (value === undefined ? "" : typeof value === "string" ? value : stringify(value));
