// @ts-check
// JSON that keeps every digit, and parse errors with line and column.

/** @import { Json, Parsed } from "../types.js" */

/** Whether this browser can hold numbers as they were written. */
const canKeepDigits = typeof JSON.rawJSON === "function";

/**
 * Returns whether a value is a number that JavaScript cannot represent.
 * @param {unknown} value
 */
export const isRaw = (value) => canKeepDigits && JSON.isRawJSON(value);

/**
 * Parses JSON; integers beyond 2^53 keep their digits.
 * @param {string} text
 * @returns {Json}
 */
export function parse(text) {
  if (!canKeepDigits) return JSON.parse(text);
  return JSON.parse(text, (_key, value, context) => {
    const loses = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return loses && /^-?\d+$/.test(context.source) ? JSON.rawJSON(context.source) : value;
  });
}

/**
 * Writes a value as JSON.
 * @param {unknown} value
 * @param {number} [indent]
 * @returns {string}
 */
export const stringify = (value, indent) => JSON.stringify(value, null, indent) ?? "";

/**
 * Parses what a person typed: returns `value`, or `error` with `line` and `column`.
 * @param {string} text
 * @returns {Parsed}
 */
export function tryParse(text) {
  try {
    return { value: parse(text) };
  } catch {
    const before = text.slice(0, brokenAt(text)).split("\n");
    const found = text.slice(before.join("\n").length).match(/^\S{1,12}/);
    const error = found ? `unexpected ${found[0]}` : "unexpected end";
    return { error, line: before.length, column: (before.at(-1) ?? "").length + 1 };
  }
}

/**
 * Returns where text stops being JSON; browsers report it in different ways.
 * @param {string} text
 * @returns {number}
 */
function brokenAt(text) {
  let at = 0;
  /** @param {RegExp} pattern */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const isMatch = pattern.test(text);
    if (isMatch) at = pattern.lastIndex;
    return isMatch;
  };
  const space = () => take(/[ \t\r\n]*/y);
  const string = () => take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
  /** @param {RegExp} end @param {() => boolean} item @returns {boolean} */
  const list = (end, item) => {
    space();
    if (take(end)) return true;
    do if (!item()) return false;
    while (take(/,/y));
    return take(end);
  };
  /** @returns {boolean} */
  const value = () => {
    space();
    let isFine;
    if (take(/\{/y)) isFine = list(/\}/y, () => (space(), string()) && (space(), take(/:/y)) && value());
    else if (take(/\[/y)) isFine = list(/\]/y, value);
    else isFine = string() || take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y) || take(/true|false|null/y);
    space();
    return isFine;
  };
  value();
  return at;
}

/**
 * Returns the type of a value as JSON Schema names it.
 * @param {unknown} value
 * @returns {string}
 */
export function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isRaw(value)) return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/**
 * Adds a key to a JSON Pointer.
 * @param {string} path
 * @param {string | number} key
 * @returns {string}
 */
export const jsonPointer = (path, key) => `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
