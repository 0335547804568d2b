// @ts-check
// An object that may be omitted.

import { html } from "../../preact-htm.js";
import { initialValue } from "../../lib/initial-value.js";
import { typeOf } from "../../lib/json.js";
import { JsonInput } from "./json-input.js";
import { ObjectFields } from "./object-fields.js";

/** @import { ControlProps } from "../../types.js" */

/**
 * Shows an object, or a button that adds it.
 * @param {ControlProps} props
 */
export function ObjectInput(props) {
  const { value, required, name, root, onChange, schema } = props;
  const isPresent = typeOf(value) === "object" || (required && value === undefined);
  if (isPresent) return html`<${ObjectFields} ...${props} value=${value ?? {}} />`;
  if (value !== undefined) return html`<${JsonInput} value=${value} control=${props.control} onChange=${onChange} />`;
  return html`<button type="button" class="add"
    onClick=${() => onChange(initialValue(schema, root) ?? {})}>Add ${name}</button>`;
}
