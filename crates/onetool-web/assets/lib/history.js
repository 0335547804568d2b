// @ts-check
// The history of calls, from the gateway or from this page.

import { masked } from "./secrets.js";
import { api, config } from "./server.js";
import { getState, setState } from "./store.js";

/** @import { Call, CallRecord, JsonObject, ToolDetail, ToolOutput } from "../types.js" */

/** How many calls the page remembers. */
const MAX_CALLS = 100;

/**
 * Remembers a call in the page, where there is no gateway.
 * @param {ToolDetail} tool
 * @param {JsonObject} args
 * @param {ToolOutput} output
 * @param {number} ms
 */
export function rememberCall(tool, args, output, ms) {
  const call = {
    id: crypto.randomUUID?.() ?? String(Math.random()),
    tool: tool.name,
    at_ms: Date.now() - ms,
    duration_ms: Math.round(ms),
    is_error: output.isError === true,
    surface: "page",
    pinned: false,
    arguments: masked(args, tool.input_schema, tool.input_schema),
    output,
  };
  setState({ calls: [call, ...getState().calls].slice(0, MAX_CALLS) });
}

/**
 * Returns the calls of one tool, or of all tools.
 * @param {string} [tool]
 * @returns {Promise<Call[]>}
 */
export const listCalls = async (tool) => {
  if (config.gateway) return api("history", { tool, limit: 100 });
  return getState().calls.filter((call) => !tool || call.tool === tool);
};

/**
 * Returns a call with its arguments and its output.
 * @param {string} id
 * @returns {Promise<CallRecord>}
 */
export const findCall = async (id) => {
  if (config.gateway) return api(`history/${encodeURIComponent(id)}`);
  const call = getState().calls.find((call) => call.id === id);
  if (!call) throw new Error("This call is no longer in the history.");
  return call;
};

/**
 * Pins or unpins a call.
 * @param {Call} call
 */
export async function togglePin(call) {
  if (config.gateway)
    await api(`history/${encodeURIComponent(call.id)}/pinned`, {}, { method: "PUT", body: { pinned: !call.pinned } });
  else setState({ calls: getState().calls.map((it) => (it.id === call.id ? { ...it, pinned: !it.pinned } : it)) });
}
