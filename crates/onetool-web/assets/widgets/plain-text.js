// @ts-check
// Text, shortened if it is very long.

import { html } from "../preact-htm.js";
import { saveFile } from "../lib/browser.js";
import { bytesOf } from "../lib/format.js";

/** Characters shown of text that is too long. */
export const SHOWN_CHARACTERS = 50_000;

/** Maximum length that is shown in full. Longer text would slow down the page. */
export const MAX_CHARACTERS = 256_000;

/**
 * Shows text, shortened where it would slow down the page.
 * @param {{ text: string, name?: string }} props
 */
export function PlainText({ text, name = "result.txt" }) {
  if (text.length <= MAX_CHARACTERS) return html`<pre class="text" tabindex="0">${text}</pre>`;
  return html`<div class="notice"><p>
      ${bytesOf(text.length)} of text. The first ${bytesOf(SHOWN_CHARACTERS)} are shown.</p>
    <button type="button" onClick=${() => saveFile(name, text)}>Save all</button></div>
  <pre class="text" tabindex="0">${text.slice(0, SHOWN_CHARACTERS)}…</pre>`;
}
