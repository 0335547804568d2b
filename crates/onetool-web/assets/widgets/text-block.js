// @ts-check
// A text result; JSON is shown as a tree.

import { html, useState } from "../preact-htm.js";
import { tryParse } from "../lib/json.js";
import { JsonTree } from "./json-tree.js";
import { PlainText, SHOWN_CHARACTERS } from "./plain-text.js";

/**
 * Shows text, or a tree if the text is JSON.
 * @param {{ text: string }} props
 */
export function TextBlock({ text }) {
  const isJson = text.length <= SHOWN_CHARACTERS && /^\s*[[{]/.test(text);
  const parsed = isJson ? tryParse(text) : {};
  const [asTree, setAsTree] = useState(true);
  if (!isJson || parsed.error) return html`<${PlainText} text=${text} />`;
  return html`<div><button type="button" class="quiet" onClick=${() => setAsTree(!asTree)}>
      ${asTree ? "As text" : "As tree"}</button>
    ${asTree ? html`<${JsonTree} value=${parsed.value} />` : html`<${PlainText} text=${text} />`}</div>`;
}
