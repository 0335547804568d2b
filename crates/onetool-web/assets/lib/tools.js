// @ts-check
// Packs of tools, and which tools are active.

import { announce } from "./browser.js";
import { api } from "./server.js";
import { getState, setState } from "./store.js";

/** @import { Tool } from "../types.js" */

/**
 * Returns the pack of a tool.
 * @param {Tool} tool
 */
export const packOf = (tool) => tool.pack ?? (tool.name.includes(".") ? tool.name.split(".")[0] : "");

/**
 * Activates or deactivates tools, immediately on the page and then in the gateway.
 * @param {string[]} names
 * @param {boolean} active
 */
export async function setActive(names, active) {
  const chosen = new Set(names);
  /** @param {boolean} active */
  const mark = (active) =>
    setState({ tools: getState().tools?.map((tool) => (chosen.has(tool.name) ? { ...tool, active } : tool)) });
  mark(active);
  try {
    await api("active", {}, { method: "PUT", body: { names, active } });
    announce(`${names.length === 1 ? names[0] : `${names.length} tools`} ${active ? "active" : "inactive"}`);
  } catch (failure) {
    mark(!active);
    announce(failure.message);
  }
}
