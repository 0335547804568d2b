// @ts-check
// The fields of an object.

import { html } from "../../preact-htm.js";
import { jsonPointer } from "../../lib/json.js";
import { Field } from "./field.js";
import { MapEntries } from "./map-input.js";

/** @import { FieldsProps, Json, JsonObject } from "../../types.js" */

/**
 * Returns an own property, never an inherited one.
 * @param {JsonObject | undefined} object
 * @param {string} key
 * @returns {Json}
 */
const ownValue = (object, key) => (object && Object.hasOwn(object, key) ? object[key] : undefined);

/**
 * Shows the fields of an object; keys that are not in the schema are kept.
 * @param {FieldsProps} props
 */
export function ObjectFields({ schema, root, value, path, depth, onChange }) {
  /** @param {string} key @param {Json} next */
  const change = (key, next) => {
    if (next !== undefined) return onChange({ ...value, [key]: next });
    const { [key]: _, ...rest } = value ?? {};
    onChange(rest);
  };
  const names = Object.keys(schema.properties ?? {});
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const ordered = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const further = Object.keys(value ?? {}).filter((key) => !names.includes(key));
  const extra = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return html`${ordered.map(
    (name) => html`<${Field} key=${name} name=${name} schema=${schema.properties[name]} root=${root}
      value=${ownValue(value, name)} path=${jsonPointer(path, name)} required=${required.has(name)} depth=${depth + 1}
      onChange=${(next) => change(name, next)} />`,
  )}
  ${
    extra &&
    html`<${MapEntries} schema=${extra} root=${root} value=${value} keys=${further} path=${path}
      depth=${depth} onChange=${onChange} />`
  }
  ${
    !extra &&
    further.length > 0 &&
    html`<p class="muted small">
      ${further.length === 1 ? "One more key is" : `${further.length} more keys are`} sent as written in
      JSON: ${further.map((key) => html`<code>${key}</code> `)}</p>`
  }`;
}
