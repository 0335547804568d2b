// @ts-check
// A value with several possible schemas.

import { html, useEffect, useState } from "../../preact-htm.js";
import { initialItem } from "../../lib/initial-value.js";
import { typeOf } from "../../lib/json.js";
import { kindOf, nullable, variantFor, variantsOf } from "../../lib/schema.js";
import { Control } from "./control.js";

/** @import { ControlProps, FieldEvent } from "../../types.js" */

/**
 * Shows a choice of variants and the control of the chosen one.
 * @param {ControlProps} props
 */
export function VariantsInput(props) {
  const { schema, root, value, name, control, onChange } = props;
  const variants = variantsOf(schema, root);
  const [chosen, choose] = useState(() => variantFor(value, variants, root));
  const only = nullable(variants);
  // A value from the JSON view, or from history, may be of another variant than the one that was chosen here.
  useEffect(() => {
    const matching = variantFor(value, variants, root);
    if (value !== undefined && matching !== chosen && !only) choose(matching);
  }, [typeOf(value)]);
  if (only)
    return html`<div class="nullable">
      ${
        value === null
          ? html`<input ...${control} type="text" value="null" disabled />`
          : html`<${Control} ...${props} schema=${only} kind=${kindOf(only)} />`
      }
      <label class="check">
        <input type="checkbox" aria-label=${`${name} is null`} checked=${value === null}
          onChange=${(event) => onChange(event.target.checked ? null : undefined)} />null</label></div>`;
  const current = variants[Math.min(chosen, variants.length - 1)].schema;
  const kind = kindOf(current);
  /** @param {FieldEvent} event */
  const pick = (event) => {
    choose(+event.target.value);
    onChange(initialItem(variants[+event.target.value].schema, root));
  };
  const select = `${control.id}-variant`;
  return html`<select id=${select} aria-label=${`Variant of ${name}`} value=${String(chosen)} onChange=${pick}>
    ${variants.map(({ label }, index) => html`<option key=${index} value=${String(index)}>${label}</option>`)}</select>
  <${Control} ...${props} key=${chosen} schema=${current} kind=${kind} required=${props.required}
    control=${
      ["object", "map", "array"].includes(kind)
        ? control
        : { ...control, id: `${control.id}-value`, "aria-label": `${name} value` }
    } />`;
}
