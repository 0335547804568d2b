// @ts-check
// A value that the schema fixes.

import { html, useEffect } from "../../preact-htm.js";
import { stringify } from "../../lib/json.js";

/** @import { ControlProps } from "../../types.js" */

/**
 * Shows a checkbox for a fixed value.
 * @param {ControlProps} props
 */
export function ConstInput({ schema, value, required, control, onChange }) {
  useEffect(() => {
    if (required && value === undefined) onChange(schema.const);
  }, []);
  return html`<label class="check">
    <input ...${control} type="checkbox" checked=${value !== undefined} disabled=${required}
      onChange=${(event) => onChange(event.target.checked ? schema.const : undefined)} />always <code>
      ${stringify(schema.const)}</code>
  </label>`;
}
