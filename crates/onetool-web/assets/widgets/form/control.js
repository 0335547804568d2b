// @ts-check
// The control for a kind of schema.

import { html } from "../../preact-htm.js";
import { BooleanInput } from "./boolean-input.js";
import { ConstInput } from "./const-input.js";
import { EnumInput } from "./enum-input.js";
import { JsonInput } from "./json-input.js";
import { ListInput } from "./list-input.js";
import { MapInput } from "./map-input.js";
import { NumberInput } from "./number-input.js";
import { ObjectInput } from "./object-input.js";
import { TextInput } from "./text-input.js";
import { VariantsInput } from "./variants-input.js";

/** @import { ControlProps } from "../../types.js" */

/**
 * Shows the control for a kind of schema.
 * @param {ControlProps} props
 */
export function Control(props) {
  switch (props.kind) {
    case "string":
      return html`<${TextInput} ...${props} />`;
    case "integer":
    case "number":
      return html`<${NumberInput} ...${props} />`;
    case "boolean":
      return html`<${BooleanInput} ...${props} />`;
    case "enum":
      return html`<${EnumInput} ...${props} />`;
    case "const":
      return html`<${ConstInput} ...${props} />`;
    case "null":
      return html`<${ConstInput} ...${props} schema=${{ const: null }} />`;
    case "object":
      return html`<${ObjectInput} ...${props} />`;
    case "map":
      return html`<${MapInput} ...${props} />`;
    case "array":
      return html`<${ListInput} ...${props} />`;
    case "variants":
      return html`<${VariantsInput} ...${props} />`;
    default:
      return html`<${JsonInput} ...${props} />`;
  }
}
