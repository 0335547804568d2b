// @ts-check
// The address after the `#`.

/** @import { Route } from "../types.js" */

/**
 * Reads the view, the name and the values from the address.
 * @returns {Route}
 */
export function readRoute() {
  const [path, values = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  let name = rest.join("/");
  try {
    name = decodeURIComponent(name);
  } catch {
    // An invalid escape is shown unchanged.
  }
  return { view: view || "tools", name, values: new URLSearchParams(values) };
}

/**
 * Returns the address of a view.
 * @param {string} view
 * @param {string} [name]
 * @param {{ [key: string]: string }} [values]
 */
export const link = (view, name, values) => {
  const tail = values ? `?${new URLSearchParams(values)}` : "";
  return `#/${view}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${tail}`;
};

/**
 * Opens a view.
 * @param {string} view
 * @param {string} [name]
 */
export const go = (view, name) => {
  location.hash = link(view, name);
};
