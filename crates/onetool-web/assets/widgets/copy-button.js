// @ts-check
// A button that copies text.

import { html, useState } from "../preact-htm.js";
import { copyText } from "../lib/browser.js";

/**
 * Shows a button that copies `text`.
 * @param {{ text: string | (() => string), label?: string, disabled?: boolean }} props
 */
export function CopyButton({ text, label = "Copy", disabled }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    if (await copyText(typeof text === "function" ? text() : text)) {
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    }
  };
  return html`<button type="button" class="quiet" disabled=${disabled} onClick=${onClick}>
    ${done ? "Copied" : label}</button>`;
}
