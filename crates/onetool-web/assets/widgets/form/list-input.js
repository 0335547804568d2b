// @ts-check
// A list whose items can be added, moved and removed.

import { html, useRef } from "../../preact-htm.js";
import { initialItem } from "../../lib/initial-value.js";
import { jsonPointer } from "../../lib/json.js";
import { Field } from "./field.js";
import { JsonInput } from "./json-input.js";

/**
 * @import { Ref } from "../../preact-htm.js"
 * @import { ControlProps, Json } from "../../types.js"
 */

/**
 * Shows a list.
 * @param {ControlProps} props
 */
export function ListInput({ schema, root, value, name, required, path, depth, control, onChange }) {
  /** @type {Ref<HTMLElement>} */
  const list = useRef();
  const items = value ?? [];
  if (!Array.isArray(items)) return html`<${JsonInput} value=${value} control=${control} onChange=${onChange} />`;
  /** @param {number} index @param {Json} next */
  const change = (index, next) => onChange(items.with(index, next === undefined ? null : next));
  /** @param {number} from @param {number} to */
  const move = (from, to) => {
    const moved = items.toSpliced(from, 1);
    moved.splice(to, 0, items[from]);
    onChange(moved);
  };
  const add = () => {
    onChange([...items, initialItem(schema.items ?? {}, root)]);
    setTimeout(() => {
      /** @type {HTMLElement | null | undefined} */
      const added = list.current?.lastElementChild?.querySelector("input, textarea, select");
      added?.focus();
    });
  };
  const isFull = items.length >= (schema.maxItems ?? Infinity);
  return html`<ol class="items" ref=${list}>${items.map(
    (item, index) => html`<li key=${index}>
      <${Field} name=${`${name} ${index + 1}`} schema=${schema.items ?? {}} root=${root} value=${item}
        path=${jsonPointer(path, index)} required depth=${depth + 1} onChange=${(next) => change(index, next)} />
      <div class="moves"><button type="button" class="icon" aria-label=${`Move ${name} ${index + 1} up`}
          disabled=${index === 0}
          onClick=${() => move(index, index - 1)}>↑</button>
        <button type="button" class="icon" aria-label=${`Move ${name} ${index + 1} down`}
          disabled=${index === items.length - 1}
          onClick=${() => move(index, index + 1)}>↓</button>
        <button type="button" class="icon" aria-label=${`Remove ${name} ${index + 1}`}
          onClick=${() => onChange(items.toSpliced(index, 1))}>×</button>
      </div></li>`,
  )}</ol>
  <button type="button" class="add" disabled=${isFull} onClick=${add}>Add to ${name}</button>
  ${!required && value?.length === 0 && html`<span class="muted small"> An empty list is sent.</span>`}`;
}
