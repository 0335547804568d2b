// @ts-check
// The output of a tool.

import { html } from "../preact-htm.js";
import { bytesOf, numberOf } from "../lib/format.js";
import { stringify, tryParse, typeOf } from "../lib/json.js";
import { link } from "../lib/route.js";
import { config } from "../lib/server.js";
import { ContentBlock } from "./content-block.js";
import { JsonTree } from "./json-tree.js";
import { PlainText, SHOWN_CHARACTERS } from "./plain-text.js";

/** @import { Json, StoredResult, ToolOutput } from "../types.js" */

/**
 * Returns whether a result was stored because it is large.
 * @param {Json} data
 * @returns {data is StoredResult}
 */
const isStored = (data) =>
  typeOf(data) === "object" &&
  typeof data.handle === "string" &&
  typeof data.total_lines === "number" &&
  Array.isArray(data.preview);

/**
 * Returns the reference to a stored result in the output of `run`: one line of JSON, after the error if the run failed.
 * @param {ToolOutput} output
 * @returns {StoredResult | undefined}
 */
const storedIn = ({ structuredContent, content }) => {
  if (isStored(structuredContent)) return structuredContent;
  const lines =
    content?.length === 1 && content[0].type === "text"
      ? String(content[0].text).slice(-SHOWN_CHARACTERS).split("\n")
      : [];
  const last = lines.findLast((line) => line.startsWith('{"handle":'));
  const data = last && tryParse(last).value;
  return isStored(data) ? data : undefined;
};

/**
 * Shows the output of a tool.
 * @param {{ output: ToolOutput }} props
 */
export function Output({ output }) {
  const data = storedIn(output) ?? output.structuredContent;
  if (isStored(data))
    return html`<div class="notice stored"><p><strong>
          ${numberOf(data.total_lines)} lines</strong>, ${bytesOf(data.size_bytes)}. The result was stored, so that it
        does not fill the context.</p>
      ${config.gateway && html`<a class="button" href=${link("results", data.handle)}>Read it</a>`}</div>
    <${PlainText} text=${data.preview.join("\n")} />`;
  const blocks = Array.isArray(output.content) ? output.content : [];
  const isSame =
    data !== undefined &&
    blocks.length === 1 &&
    blocks[0].type === "text" &&
    stringify(tryParse(String(blocks[0].text)).value) === stringify(data);
  return html`${data !== undefined && html`<${JsonTree} value=${data} />`}
  ${!isSame && blocks.map((block, at) => html`<${ContentBlock} key=${at} block=${block} />`)}
  ${data === undefined && !blocks.length && html`<p class="muted">The tool returned no content.</p>`}`;
}
