// @ts-check
// JSON as text, for schemas that no form can show.

import { html, useEffect, useRef, useState } from "../../preact-htm.js";
import { stringify, tryParse } from "../../lib/json.js";

/**
 * @import { StateHook } from "../../preact-htm.js"
 * @import { FieldEvent, JsonInputProps } from "../../types.js"
 */

/**
 * Shows JSON as text; keeps the last valid value while the text is invalid.
 * @param {JsonInputProps} props
 */
export function JsonInput({ value, control, rows = 3, refuse, onChange, onState }) {
  const [text, setText] = useState(value === undefined ? "" : stringify(value, 2));
  /** @type {StateHook<string | undefined>} */
  const [problem, setProblem] = useState();
  const last = useRef(stringify(value));
  useEffect(() => {
    if (stringify(value) === last.current) return;
    last.current = stringify(value);
    setText(value === undefined ? "" : stringify(value, 2));
    setProblem(undefined);
    onState?.(undefined);
  }, [stringify(value)]);
  /** @param {FieldEvent} event */
  const onInput = (event) => {
    setText(event.target.value);
    const { value: next, ...failed } = event.target.value.trim() ? tryParse(event.target.value) : { value: undefined };
    const found = failed.error ? `Line ${failed.line}, column ${failed.column}: ${failed.error}` : refuse?.(next);
    setProblem(found);
    onState?.(found);
    if (found) return;
    last.current = stringify(next);
    onChange(next);
  };
  return html`<textarea ...${control} class="code" rows=${rows} spellcheck="false" placeholder="JSON" value=${text}
    onInput=${onInput}
    aria-invalid=${problem ? "true" : control["aria-invalid"]}>
  </textarea>
  ${problem && html`<p class="error" role="status">${problem}. The last valid value is kept.</p>`}`;
}
