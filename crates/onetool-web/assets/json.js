// JSON that loses nothing: large integers keep their digits, and errors have a line and a column.

const canKeepDigits = typeof JSON.rawJSON === "function";

/** Tells whether a value is a number that JavaScript cannot hold. */
export const isRaw = (value) => canKeepDigits && JSON.isRawJSON(value);

/** Parses; integers beyond 2^53 stay as they were written. */
export function parse(text) {
  if (!canKeepDigits) return JSON.parse(text);
  return JSON.parse(text, (_key, value, context) => {
    const loses = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return loses && /^-?\d+$/.test(context.source) ? JSON.rawJSON(context.source) : value;
  });
}

export const stringify = (value, indent) => JSON.stringify(value, null, indent) ?? "";

/** Parses what a person types: `{value}`, or `{error, line, column}`. */
export function read(text) {
  try {
    return { value: parse(text) };
  } catch (failure) {
    const message = String(failure.message);
    const place = message.match(/line (\d+) column (\d+)/);
    const position = message.match(/position (\d+)/);
    const words = message.replace(/ in JSON.*| \(line.*| at line.*/, "").replace(/^JSON\.parse: /, "");
    if (place) return { error: words, line: +place[1], column: +place[2] };
    const before = text.slice(0, position ? +position[1] : text.length).split("\n");
    return { error: words, line: before.length, column: before.at(-1).length + 1 };
  }
}

/** Names the type of a value as JSON Schema does. */
export function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isRaw(value)) return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Adds a key to a JSON Pointer. */
export const pointer = (path, key) => `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
