// @ts-check
// One tool in the list.

import { html } from "../preact-htm.js";
import { hintsOf } from "../lib/hints.js";
import { link } from "../lib/route.js";
import { packOf } from "../lib/tools.js";
import { Badge } from "./badge.js";

/** @import { Hit } from "../types.js" */

/**
 * Shows one tool of the list.
 * @param {{ hit: Hit, isSelected: boolean, isSearch?: boolean }} props
 */
export function ToolRow({ hit, isSelected, isSearch }) {
  const { tool, score, matched } = hit;
  const hints = hintsOf(tool.annotations);
  const effect = hints.find(({ key, isSet, value }) => key === "destructiveHint" && isSet && value) ?? hints[0];
  const reasons = (matched ?? []).map(({ term, fields }) => `${term} in ${fields.join(", ")}`).join("; ");
  return html`<li class=${isSelected ? "selected" : ""}>
    <a class="tool" href=${link("tools", tool.name)} aria-current=${isSelected ? "true" : undefined}>
      <span class="line"><span class="toolname">
          ${isSearch || !packOf(tool) ? tool.name : tool.name.slice(packOf(tool).length + 1)}</span>
        ${
          tool.active &&
          html`<span class="dot" title="Active: agents have it in their list"><span class="hidden">active</span></span>`
        }
        ${
          isSearch && score !== undefined
            ? html`<span class="score" title=${reasons}>${score.toFixed(1)}</span>`
            : html`<${Badge} hint=${effect} />`
        }</span>
      <span class="about">${tool.description.split("\n")[0]}</span>
      ${
        isSearch &&
        matched &&
        matched.length > 0 &&
        html`<span class="why">${matched.map(
          ({ term, fields }) => html`<span key=${term}><b>${term}</b> ${fields.join(", ")}</span>`,
        )}</span>`
      }
    </a></li>`;
}
