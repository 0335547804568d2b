// @ts-check
// A text box.

import { html, useEffect, useRef } from "../../preact-htm.js";
import { JsonInput } from "./json-input.js";

/**
 * @import { Ref } from "../../preact-htm.js"
 * @import { ControlProps, FieldEvent } from "../../types.js"
 */

/**
 * Input types by format.
 * @type {{ [format: string]: string }}
 */
const INPUT_TYPES = { email: "email", uri: "url", url: "url", password: "password", date: "date", time: "time" };

/**
 * Shows a text box.
 * @param {ControlProps} props
 */
export function TextInput({ schema, value, required, control, onChange }) {
  /** @type {Ref<HTMLTextAreaElement>} */
  const input = useRef();
  const type = INPUT_TYPES[schema.format] ?? (schema.writeOnly ? "password" : undefined);
  const isText = typeof value === "string" || value === undefined;
  useEffect(() => growToText(input.current), [value]);
  if (!isText) return html`<${JsonInput} value=${value} control=${control} onChange=${onChange} />`;
  /** @param {FieldEvent} event */
  const onInput = (event) => onChange(event.target.value === "" && !required ? undefined : event.target.value);
  const placeholder =
    "default" in schema
      ? String(schema.default)
      : schema.format === "date-time"
        ? "2026-07-28T10:00:00Z"
        : (schema.examples?.[0] ?? "");
  if (type || schema.format === "date-time")
    return html`<input ...${control} type=${type ?? "text"} value=${value ?? ""} placeholder=${placeholder}
      autocomplete="off" onInput=${onInput} />`;
  return html`<textarea ...${control} ref=${input} rows="1" value=${value ?? ""} placeholder=${placeholder}
    spellcheck="false" onInput=${onInput}>
  </textarea>
  ${
    value === "" &&
    !required &&
    html`<p class="muted small">An empty string is sent. <button type="button" class="quiet"
        onClick=${() => onChange(undefined)}>Omit it</button></p>`
  }`;
}

/**
 * Makes a text box as high as its text, in browsers that cannot do that with CSS.
 * @param {HTMLTextAreaElement | undefined} box
 */
function growToText(box) {
  if (!box || CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, 320)}px`;
}
