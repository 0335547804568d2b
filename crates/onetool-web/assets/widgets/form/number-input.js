// @ts-check
// A number, kept as typed.

import { html, useEffect, useState } from "../../preact-htm.js";
import { isRaw, stringify, tryParse } from "../../lib/json.js";
import { inputText } from "./enum-input.js";

/** @import { ControlProps, FieldEvent, Json } from "../../types.js" */

/**
 * Reads a number; anything else is sent as typed, and the server reports what is wrong.
 * @param {string} text
 * @returns {Json}
 */
function numberFrom(text) {
  if (text.trim() === "") return undefined;
  const { value } = /^\s*[-+]?(\d|\.\d)/.test(text)
    ? tryParse(
        text
          .trim()
          .replace(/^\+/, "")
          .replace(/^(-?)\./, "$10."),
      )
    : {};
  return typeof value === "number" || isRaw(value) ? value : text;
}

/**
 * Shows a text box for a number.
 * @param {ControlProps} props
 */
export function NumberInput({ schema, value, control, onChange }) {
  const [text, setText] = useState(inputText(value));
  useEffect(() => {
    if (stringify(numberFrom(text)) !== stringify(value)) setText(inputText(value));
  }, [stringify(value)]);
  /** @param {FieldEvent} event */
  const onInput = (event) => {
    setText(event.target.value);
    onChange(numberFrom(event.target.value));
  };
  const placeholder = "default" in schema ? stringify(schema.default) : "";
  return html`<input ...${control} type="text" inputmode=${schema.type === "integer" ? "numeric" : "decimal"}
    autocomplete="off" value=${text}
    placeholder=${placeholder} onInput=${onInput} />`;
}
