// @ts-check
// One content block of a result.

import { html } from "../preact-htm.js";
import { saveFile } from "../lib/browser.js";
import { bytesOf } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { CopyButton } from "./copy-button.js";
import { PlainText } from "./plain-text.js";
import { TextBlock } from "./text-block.js";

/** @import { Content } from "../types.js" */

/**
 * Returns whether a MIME type belongs to `kind`.
 * @param {unknown} type
 * @param {string} kind
 * @returns {type is string}
 */
const isMediaType = (type, kind) => typeof type === "string" && new RegExp(`^${kind}/[a-z0-9.+-]+$`, "i").test(type);

/**
 * Returns whether data looks like Base64.
 * @param {unknown} data
 * @returns {data is string}
 */
const isBase64 = (data) =>
  typeof data === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data.slice(0, 4096) + data.slice(-4));

/**
 * Decodes Base64.
 * @param {string} data
 */
const bytesFrom = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));

/**
 * Shows one content block. Only data of a known type becomes an element; everything else stays text.
 * @param {{ block: Content }} props
 */
export function ContentBlock({ block }) {
  const { type, data, mimeType } = block ?? {};
  switch (type) {
    case "text":
      return html`<${TextBlock} text=${String(block.text)} />`;
    case "image":
      if (isMediaType(mimeType, "image") && isBase64(data))
        return html`<figure><img src=${`data:${mimeType};base64,${data}`}
            alt=${`Image from the tool, ${mimeType}`} />
          <figcaption>${mimeType} · ${bytesOf(data.length * 0.75)}
            <button type="button" class="quiet"
              onClick=${() => saveFile("picture", bytesFrom(data), mimeType)}>Save</button>
          </figcaption></figure>`;
      break;
    case "audio":
      if (isMediaType(mimeType, "audio") && isBase64(data))
        return html`<figure><audio controls src=${`data:${mimeType};base64,${data}`}></audio><figcaption>
            ${mimeType}</figcaption></figure>`;
      break;
    case "resource_link":
      return html`<div class="resource"><strong>${block.name}</strong> ${
        mimeType && html`<span class="muted">${mimeType}</span>`
      }<code>${block.uri}</code>${
        block.description && html`<p>${block.description}</p>`
      }<${CopyButton} text=${String(block.uri)} label="Copy address" /></div>`;
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource ?? {};
      return html`<div class="resource"><code>${uri}</code> ${mimeType && html`<span class="muted">${mimeType}</span>`}
        ${text !== undefined && html`<${TextBlock} text=${String(text)} />`}
        ${
          isBase64(blob) &&
          html`<button type="button"
            onClick=${() => saveFile("resource", bytesFrom(blob), "application/octet-stream")}>
            Save ${bytesOf(Math.floor(blob.length * 0.75))}</button>`
        }</div>`;
    }
  }
  return html`<${PlainText} text=${stringify(block, 2)} />`;
}
