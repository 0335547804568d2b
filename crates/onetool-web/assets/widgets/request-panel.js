// @ts-check
// The call as other programs write it.

import { html, useState } from "../preact-htm.js";
import { stringify } from "../lib/json.js";
import { link } from "../lib/route.js";
import { cliCommand, curlCommand, flatName, mcpRequest, pythonCall } from "../lib/snippets.js";
import { getToken } from "../lib/token.js";
import { CopyButton } from "./copy-button.js";
import { Segments } from "./segments.js";

/** @import { JsonObject, ToolDetail } from "../types.js" */

/**
 * Shows a call as cURL, Python, MCP JSON or a command line.
 * @param {{ tool: ToolDetail, args: JsonObject, url: string }} props
 */
export function RequestPanel({ tool, args, url }) {
  const [kind, setKind] = useState("curl");
  const [reveal, setReveal] = useState(false);
  const token = getToken();
  /** @type {{ [kind: string]: [name: string, write: () => string] }} */
  const formats = {
    curl: ["cURL", () => curlCommand(url, args, token, reveal)],
    python: ["Python", () => pythonCall(tool.name, args)],
    mcp: ["MCP JSON", () => mcpRequest(tool.flat_name ?? flatName(tool.name), args)],
    cli: ["CLI", () => cliCommand(tool.name, args)],
  };
  const [name, write] = formats[kind];
  const text = write();
  const share = () => new URL(link("tools", tool.name, { args: stringify(args) }), location.href).href;
  return html`<div class="request">
    <${Segments} label="Copy as" options=${[
      ["curl", "cURL"],
      ["python", "Python"],
      ["mcp", "MCP"],
      ["cli", "CLI"],
    ]} value=${kind} onChange=${setKind} />
    <pre class="text" tabindex="0" role="group" aria-label="The call as text">${text}</pre>
    <div class="row"><${CopyButton} text=${text} label=${`Copy as ${name}`} />
      <${CopyButton} text=${share} label="Copy link" />
      ${
        kind === "curl" &&
        token &&
        html`<label class="check">
          <input type="checkbox" checked=${reveal} onChange=${(event) => setReveal(event.target.checked)}
            />show the token</label>`
      }</div>
  </div>`;
}
