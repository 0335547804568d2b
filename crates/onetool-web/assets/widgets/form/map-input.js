// @ts-check
// An object with keys of the user's choice.

import { html } from "../../preact-htm.js";
import { initialItem } from "../../lib/initial-value.js";
import { jsonPointer, typeOf } from "../../lib/json.js";
import { Field } from "./field.js";
import { JsonInput } from "./json-input.js";

/** @import { ControlProps, FieldsProps } from "../../types.js" */

/**
 * Shows a map, or a button that adds it.
 * @param {ControlProps} props
 */
export function MapInput(props) {
  const { value, name, required, schema, onChange, control } = props;
  if (value !== undefined && typeOf(value) !== "object")
    return html`<${JsonInput} value=${value} control=${control} onChange=${onChange} />`;
  if (value === undefined && !required)
    return html`<button type="button" class="add" onClick=${() => onChange({})}>Add ${name}</button>`;
  return html`<${MapEntries} ...${props} schema=${schema.additionalProperties} value=${value ?? {}}
    keys=${Object.keys(value ?? {})} />`;
}

/**
 * Shows keys that a person chooses, each with a value of one schema.
 * @param {FieldsProps & { keys: string[] }} props
 */
export function MapEntries({ schema, root, value, keys, path, depth, onChange }) {
  /** @param {string} from @param {string} to */
  const rename = (from, to) => {
    if (to === from || (to !== "" && Object.hasOwn(value, to))) return;
    onChange(Object.fromEntries(Object.entries(value).map(([key, part]) => [key === from ? to : key, part])));
  };
  /** @param {string} key */
  const remove = (key) => onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== key)));
  const add = () => {
    let key = "key";
    for (let count = 2; Object.hasOwn(value, key); count += 1) key = `key${count}`;
    onChange({ ...value, [key]: initialItem(schema, root) });
  };
  return html`<div class="entries">${keys.map(
    (key) => html`<div class="entry" key=${key}>
      <input type="text" aria-label="Key" value=${key} autocomplete="off"
        onChange=${(event) => rename(key, event.target.value)} />
      <${Field} name=${key} schema=${schema} root=${root} value=${value[key]} path=${jsonPointer(path, key)} required
        depth=${depth + 1}
        onChange=${(next) => onChange({ ...value, [key]: next === undefined ? null : next })} />
      <button type="button" class="icon" aria-label=${`Remove ${key}`} onClick=${() => remove(key)}>×</button></div>`,
  )}
    <button type="button" class="add" onClick=${add}>Add key</button></div>`;
}
