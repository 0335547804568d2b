// @ts-check
// Validation errors and the fields they belong to.

import { createContext } from "../../preact-htm.js";
import { jsonPointer, parse } from "../../lib/json.js";

/**
 * @import { Context } from "../../preact-htm.js"
 * @import { ValidationError } from "../../types.js"
 */

/**
 * The messages for each field, by JSON Pointer.
 * @type {Context<Map<string, string[]>>}
 */
export const FieldErrors = createContext(new Map());

/**
 * Returns the id of the element for a JSON Pointer.
 * @param {string} path
 */
export const fieldId = (path) => `field${path}`;

/**
 * Assigns the errors of the server to fields; a missing property is an error of that property.
 * @param {ValidationError[]} errors
 * @returns {Map<string, string[]>}
 */
export function placeErrors(errors) {
  const placed = new Map();
  for (const { path, message, keyword } of errors) {
    const missing = keyword === "required" && message.match(/^("(?:[^"\\]|\\.)*") is a required property/);
    const at = missing ? jsonPointer(path, parse(missing[1])) : path;
    placed.set(at, [...(placed.get(at) ?? []), missing ? "Required" : message]);
  }
  return placed;
}

/**
 * Moves the focus to a field, or to the nearest field around it.
 * @param {string} path
 */
export function focusField(path) {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf("/"))) {
    const field = document.getElementById(fieldId(at)) ?? document.getElementById(`${fieldId(at)}-value`);
    if (field) {
      field.focus();
      field.scrollIntoView({ block: "center" });
      return;
    }
    if (at === "") return;
  }
}
